//! A cluster: etcd, an API server and kubectl.
//!
//! Owns: the arguments of both programs, users and their kubeconfigs. Flows in: where programs and files are. Flows
//! out: what kubectl prints, or its complaint. Must not know: what a hub or a spoke holds.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use kube_json::{Value, json};

use crate::needs::Needs;
use crate::programs::{Programs, free_ports};

/// The user of a work agent: the ServiceAccount that a klusterlet gives it, and that `gateway-rbac` binds.
pub(crate) const AGENT: &str = "system:serviceaccount:open-cluster-management-agent:klusterlet-work-sa";
/// How long a program may take to answer at all.
pub(crate) const START: Duration = Duration::from_secs(60);

/// One that was started; its programs belong to `Programs`.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) name: String,
    pub(crate) admin: PathBuf,
    pub(crate) agent: PathBuf,
    kubectl: PathBuf,
    directory: PathBuf,
    etcd: u16,
}

impl Cluster {
    /// Starts both programs; [`Self::ready`] waits for them, so that several clusters start at the same time.
    pub(crate) fn start(
        name: &str,
        parent: &Path,
        needs: &Needs,
        programs: &mut Programs,
    ) -> Result<Self, String> {
        let directory = parent.join(name);
        let [etcd, api] = free_ports()?;
        fs::create_dir(&directory).map_err(|error| error.to_string())?;
        let cluster = Self {
            name: name.to_owned(),
            admin: directory.join("admin.kubeconfig"),
            agent: directory.join("agent.kubeconfig"),
            kubectl: needs.kubectl.clone(),
            etcd,
            directory,
        };
        cluster.write("admin.kubeconfig", &kubeconfig(api, "admin").to_string())?;
        cluster.write("agent.kubeconfig", &kubeconfig(api, "agent").to_string())?;
        let users = format!("admin,admin,admin,system:masters\nagent,{AGENT},agent,system:serviceaccounts\n");
        cluster.write("tokens.csv", &users)?;
        programs.start(
            &format!("{name}-etcd"),
            &needs.etcd,
            &etcd_arguments(&cluster.directory, etcd),
        )?;
        // The API server asks etcd for a while only, and then ends.
        programs.until(&format!("{name}-etcd answers"), START, || {
            cluster.etcd_is_healthy()
        })?;
        programs.start(
            &format!("{name}-kube-apiserver"),
            &needs.kube_apiserver,
            &apiserver_arguments(&cluster.directory, etcd, api),
        )?;
        Ok(cluster)
    }

    /// Waits until the API server is ready.
    pub(crate) fn ready(&self, programs: &mut Programs) -> Result<(), String> {
        let what = format!("{}-kube-apiserver is ready", self.name);
        programs.until(&what, START, || self.kubectl(&["get", "--raw=/readyz"]).map(drop))
    }

    /// What kubectl prints as the administrator.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> Result<String, String> {
        self.kubectl_reads(arguments, "")
    }

    /// Waits until the server serves every CRD.
    pub(crate) fn established(&self) -> Result<(), String> {
        let wait = [
            "wait",
            "--for=condition=Established",
            "--timeout=30s",
            "crd",
            "--all",
        ];
        // `kubectl wait` fails at once on a CRD that has no conditions yet (kubernetes/kubectl pkg/cmd/wait).
        let mut waited = self.kubectl(&wait);
        for _ in 0..20 {
            match &waited {
                Err(wrong) if wrong.contains("conditions accessor error") => {
                    sleep(Duration::from_millis(500));
                }
                _ => break,
            }
            waited = self.kubectl(&wait);
        }
        waited.map(drop)
    }

    /// The same with a text on standard input.
    pub(crate) fn kubectl_reads(&self, arguments: &[&str], text: &str) -> Result<String, String> {
        let output = self.run(arguments, text)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let (out, complaint) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        let command = arguments.join(" ");
        Err(format!(
            "kubectl {command} on {} ended with {}:\n{out}{complaint}",
            self.name, output.status
        ))
    }

    /// What kubectl gets as JSON.
    pub(crate) fn get(&self, arguments: &[&str]) -> Result<Value, String> {
        let text = self.kubectl(&[&["get", "-o", "json"], arguments].concat())?;
        serde_json::from_str(&text).map_err(|error| format!("{error} in {text}"))
    }

    /// What the API server answers of somebody's rights, in every namespace.
    pub(crate) fn may(&self, user: &str, verb: &str, resource: &str) -> Result<bool, String> {
        let question = ["auth", "can-i", verb, resource, "--all-namespaces", "--as", user];
        let output = self.run(&question, "")?;
        // A reason may follow the word.
        match String::from_utf8_lossy(&output.stdout).split_whitespace().next() {
            Some("yes") => Ok(true),
            Some("no") => Ok(false),
            _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    fn run(&self, arguments: &[&str], text: &str) -> Result<Output, String> {
        let run = || {
            let mut child = Command::new(&self.kubectl)
                .arg(format!("--kubeconfig={}", self.admin.display()))
                .arg("--request-timeout=20s")
                .args(arguments)
                .env_clear()
                // For its cache of what the server serves.
                .env("HOME", &self.directory)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()?;
            if let Some(mut stdin) = child.stdin.take() {
                stdin.write_all(text.as_bytes())?;
            }
            child.wait_with_output()
        };
        run().map_err(|error: std::io::Error| format!("kubectl: {error}"))
    }

    fn etcd_is_healthy(&self) -> Result<(), String> {
        let ask = || {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.etcd))?;
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            stream.write_all(b"GET /health HTTP/1.0\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        let answer = ask().map_err(|error: std::io::Error| error.to_string())?;
        if answer.contains(r#""health":"true""#) {
            Ok(())
        } else {
            Err(answer)
        }
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        fs::write(self.directory.join(name), text).map_err(|error| format!("{name}: {error}"))
    }
}

/// One member that peers with nobody, and may lose what it has.
fn etcd_arguments(directory: &Path, port: u16) -> Vec<String> {
    vec![
        format!("--data-dir={}", directory.join("etcd").display()),
        format!("--listen-client-urls=http://127.0.0.1:{port}"),
        format!("--advertise-client-urls=http://127.0.0.1:{port}"),
        "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
    ]
}

/// A server with users from a file. It makes itself a serving certificate in `--cert-dir` before it reads the key of
/// service accounts, so one file is both
/// (kubernetes/kubernetes pkg/controlplane/apiserver/options/options.go@03f3da8862e25201ee4041c5af492b0cdc620ca1).
fn apiserver_arguments(directory: &Path, etcd: u16, port: u16) -> Vec<String> {
    let certificates = directory.join("certificates");
    let key = certificates.join("apiserver.key");
    vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        // A loopback address is none for the endpoints of the Service `kubernetes`, which nobody here asks for.
        "--endpoint-reconciler-type=none".to_owned(),
        format!("--secure-port={port}"),
        format!("--cert-dir={}", certificates.display()),
        format!("--token-auth-file={}", directory.join("tokens.csv").display()),
        "--authorization-mode=RBAC".to_owned(),
        format!("--service-account-issuer=https://127.0.0.1:{port}"),
        format!("--service-account-key-file={}", key.display()),
        format!("--service-account-signing-key-file={}", key.display()),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
    ]
}

/// The server's certificate is its own; both ends are on this machine.
fn kubeconfig(port: u16, user: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {
            "server": format!("https://127.0.0.1:{port}"), "insecure-skip-tls-verify": true}}],
        "users": [{"name": user, "user": {"token": user}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": user}}],
        "current-context": "c",
    })
}
