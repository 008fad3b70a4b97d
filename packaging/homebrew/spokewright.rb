# Homebrew's formula: `tools/release-manifests` puts version and digests in. Never run.
class Spokewright < Formula
  desc "Render Gateway API hubs into per-cluster OCM ManifestWorks"
  homepage "https://github.com/OWNER/spokewright"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/OWNER/spokewright/releases/download/v@VERSION@/spokewright-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256 aarch64-apple-darwin@"
    end
    on_intel do
      url "https://github.com/OWNER/spokewright/releases/download/v@VERSION@/spokewright-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256 x86_64-apple-darwin@"
    end
  end
  on_linux do
    on_arm do
      url "https://github.com/OWNER/spokewright/releases/download/v@VERSION@/spokewright-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "https://github.com/OWNER/spokewright/releases/download/v@VERSION@/spokewright-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "spokewright"
    bin.install_symlink "spokewright" => "kubectl-spokewright"
    generate_completions_from_executable(bin/"spokewright", "completions")
  end

  test do
    system bin/"spokewright", "init", "fleet"
    system bin/"spokewright", "render", "fleet"
    assert_path_exists testpath/"fleet/rendered/eu-1/kustomization.yaml"
  end
end
