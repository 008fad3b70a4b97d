//! What is refused, in the controller's words, and what is next to it and is not.

use apimachinery::Field;
use kube_json::{Value, json};

use super::{Part, Refuses, TABLES, Traffic, refused, unfit_for_route};

fn said(kind: &str, spec: &Value) -> Option<String> {
    refused(kind, spec, Traffic::ANY).map(|refusal| refusal.message)
}

/// Each of these is refused with its message.
fn check(kind: &str, cases: &[(Value, &str)]) {
    for (spec, message) in cases {
        assert_eq!(said(kind, spec).as_deref(), Some(*message), "{spec}");
    }
}

fn accepts(kind: &str, specs: &[Value]) {
    for spec in specs {
        assert_eq!(said(kind, spec), None, "{spec}");
    }
}

fn local(rules: &Value) -> Value {
    json!({"rateLimit": {"local": {"rules": rules}}})
}

/// A rule that selects clients so.
fn selecting(selector: &Value) -> Value {
    local(&json!([{"clientSelectors": [selector], "limit": {"requests": 1, "unit": "Minute"}}]))
}

#[test]
fn units_of_a_local_rate_limit_are_multiples_of_that_of_its_one_default() {
    let select = json!([{"headers": [{"name": "a", "value": "b"}]}]);
    let of_units = |default: &str, other: &str| {
        local(&json!([
            {"limit": {"requests": 9, "unit": default}},
            {"clientSelectors": select, "limit": {"requests": 1, "unit": other}},
        ]))
    };
    let message = "RateLimit: local rateLimit rule limit unit must be a multiple of the default limit unit.";
    check(
        "BackendTrafficPolicy",
        &[
            (of_units("Hour", "Minute"), message),
            (of_units("Month", "Year"), message),
            (
                local(
                    &json!([{"limit": {"requests": 1, "unit": "Hour"}}, {"limit": {"requests": 2, "unit": "Hour"}}]),
                ),
                "RateLimit: local rateLimit can not have more than one rule without clientSelectors.",
            ),
            (
                json!({"rateLimit": {"type": "Global", "local": {"rules": []}}}),
                "RateLimit: global configuration empty for rateLimit.",
            ),
        ],
    );
    let mut only_global = of_units("Hour", "Minute");
    only_global["rateLimit"]["type"] = json!("Global");
    only_global["rateLimit"]["global"] = json!({"rules": []});
    accepts(
        "BackendTrafficPolicy",
        &[
            of_units("Minute", "Hour"),
            of_units("Second", "Week"),
            of_units("Day", "Day"),
            only_global,
            // Without a default, it is one second.
            local(&json!([{"clientSelectors": select, "limit": {"requests": 1, "unit": "Year"}}])),
        ],
    );
}

#[test]
fn selectors_of_a_rate_limit_have_values_that_fit_their_types() {
    let unfit = "RateLimit: unable to translate rateLimit. Either the header.Type is not valid or the header is missing a value.";
    let global = json!({"rateLimit": {"global": {"rules": [
        {"clientSelectors": [{"headers": [{"name": "a", "type": "RegularExpression", "value": "a["}]}]},
    ]}}});
    let cases = [
        (
            json!({}),
            "RateLimit: unable to translate rateLimit. At least one of the header or method or path or sourceCIDR or \
             queryParameters must be specified.",
        ),
        (json!({"headers": [{"name": "a"}]}), unfit),
        (
            json!({"headers": [{"name": "a", "type": "Distinct", "value": "b"}]}),
            unfit,
        ),
        (
            json!({"headers": [{"name": "a", "type": "RegularExpression", "value": "(?=a)"}]}),
            "RateLimit: regex \"(?=a)\" is invalid.",
        ),
        (
            json!({"headers": [{"name": "a", "type": "Distinct", "invert": true}]}),
            "RateLimit: unable to translate rateLimit.Invert is not applicable for distinct header match type.",
        ),
        (
            json!({"path": {"type": "RegularExpression", "value": "a**"}}),
            "RateLimit: regex \"a**\" is invalid.",
        ),
        (
            json!({"path": {"type": "Glob", "value": "a"}}),
            "RateLimit: unable to translate rateLimit: invalid path type.",
        ),
        (
            json!({"sourceCIDR": {"value": "10.0.0.0"}}),
            "RateLimit: unable to translate rateLimit: invalid CIDR address: 10.0.0.0.",
        ),
        (
            json!({"sourceCIDR": {"value": "10.0.0.0/33"}}),
            "RateLimit: unable to translate rateLimit: invalid CIDR address: 10.0.0.0/33.",
        ),
        (
            json!({"queryParams": [{"name": "a"}]}),
            "RateLimit: value is required for Exact query parameter match.",
        ),
        (
            json!({"queryParams": [{"name": "a", "type": "RegularExpression", "value": "+"}]}),
            "RateLimit: regex \"+\" is invalid.",
        ),
        (
            json!({"queryParams": [{"name": "a", "type": "Distinct", "value": "b"}]}),
            "RateLimit: unable to translate rateLimit.Value is not applicable for distinct query parameter match type.",
        ),
        (
            json!({"queryParams": [{"name": "a", "type": "Distinct", "invert": true}]}),
            "RateLimit: unable to translate rateLimit.Invert is not applicable for distinct query parameter match type.",
        ),
    ];
    check(
        "BackendTrafficPolicy",
        &cases.map(|(selector, message)| (selecting(&selector), message)),
    );
    check(
        "BackendTrafficPolicy",
        &[(global, "RateLimit: regex \"a[\" is invalid.")],
    );
    let fitting = [
        json!({"headers": [{"name": "a", "type": "RegularExpression", "value": "^[a-z[]+\\z"}]}),
        json!({"headers": [{"name": "a", "type": "Distinct"}]}),
        json!({"path": {"value": "a["}}),
        json!({"methods": [{"value": "GET"}]}),
        json!({"sourceCIDR": {"type": "Distinct", "value": "2001:db8::/32"}}),
        json!({"queryParams": [{"name": "a", "type": "Distinct"}]}),
    ];
    accepts(
        "BackendTrafficPolicy",
        &fitting.map(|selector| selecting(&selector)),
    );
}

#[test]
fn durations_sizes_and_numbers_are_those_that_go_reads_into_32_bits() {
    check(
        "BackendTrafficPolicy",
        &[
            (
                json!({"timeout": {"tcp": {"connectTimeout": "5sec"}, "http": {"requestTimeout": "1"}}}),
                "Timeout: invalid ConnectTimeout value 5sec\ninvalid RequestTimeout value 1.",
            ),
            (
                json!({"circuitBreaker": {"maxConnections": -1, "maxParallelRetries": -2}}),
                "CircuitBreaker: invalid MaxConnections value -1.",
            ),
            (
                json!({"circuitBreaker": {"maxPendingRequests": 4_294_967_296_u64}}),
                "CircuitBreaker: invalid MaxPendingRequests value 4294967296.",
            ),
            (
                json!({"connection": {"bufferLimit": "100m"}}),
                "BackendConnection: invalid BufferLimit value 100m.",
            ),
            (
                json!({"connection": {"bufferLimit": "8Gi"}, "tcpKeepalive": {"interval": "x"}}),
                "TCPKeepalive: invalid Interval value x\nBackendConnection: BufferLimit value 8Gi is out of range.",
            ),
            (
                json!({"requestBuffer": {"limit": "4Gi"}}),
                "RequestBuffer: limit value 4Gi is out of range, must be between 0 and 4294967295.",
            ),
            (
                json!({"requestBuffer": {"limit": "1Ki"}, "httpUpgrade": [{"type": "websocket"}]}),
                "RequestBuffer: requestBuffer cannot be used together with httpUpgrade.",
            ),
            (
                json!({"bandwidthLimit": {"response": {"limit": {"value": "60Ki", "unit": "Hour"}}}}),
                "BandwidthLimit: response: bandwidth limit of 61440 bytes per Hour is below the minimum of 1 KiB/s.",
            ),
        ],
    );
    accepts(
        "BackendTrafficPolicy",
        &[
            json!({"timeout": {"http": {"requestTimeout": "0s", "connectionIdleTimeout": "1h30m"}}}),
            json!({"circuitBreaker": {"maxConnections": 4_294_967_295_u64}}),
            json!({"requestBuffer": {"limit": "4095Mi"}, "httpUpgrade": []}),
            json!({"bandwidthLimit": {"request": {"limit": {"value": "60Ki", "unit": "Minute"}}}}),
        ],
    );
    // Of policies that the CRD lets say nothing more exact.
    accepts(
        "BackendTrafficPolicy",
        &[
            json!({}),
            json!({"timeout": null, "connection": {"bufferLimit": []}}),
        ],
    );
}

#[test]
fn a_hash_has_a_prime_number_of_slots_and_retries_wait_longer_each_time() {
    let hash = |size: u64| json!({"loadBalancer": {"type": "ConsistentHash", "consistentHash": {"tableSize": size}}});
    let back_off = |base: &str, most: &str| json!({"retry": {"perRetry": {"backOff": {"baseInterval": base, "maxInterval": most}}}});
    check(
        "BackendTrafficPolicy",
        &[
            (
                hash(65_536),
                "LoadBalancer: ConsistentHash: invalid TableSize value 65536.",
            ),
            (
                hash(5_000_023),
                "LoadBalancer: ConsistentHash: invalid TableSize value 5000023.",
            ),
            (back_off("0s", "1s"), "Retry: baseInterval cannot be set to 0s."),
            (back_off("1s", "0s"), "Retry: maxInterval cannot be set to 0s."),
            (
                back_off("2s", "1s"),
                "Retry: maxInterval cannot be less than baseInterval.",
            ),
            (
                json!({"telemetry": {"metrics": {"routeStatName": "%ROUTE_NAME%/%POD%"}}}),
                "Telemetry: unable to configure Route Stat Name with unsupported operator: %POD%.",
            ),
        ],
    );
    accepts(
        "BackendTrafficPolicy",
        &[
            hash(65_537),
            hash(5_000_011),
            back_off("1s", "1000ms"),
            json!({"telemetry": {"metrics": {"routeStatName": "%ROUTE_KIND%/100%"}}}),
        ],
    );
}

#[test]
fn settings_of_http_and_of_tls_count_only_where_there_is_http_or_tls() {
    let plain = Traffic {
        http: true,
        tls: false,
    };
    let secure = Traffic {
        http: false,
        tls: true,
    };
    let message = |spec: &Value, traffic: Traffic| {
        refused("ClientTrafficPolicy", spec, traffic).map(|refusal| refusal.message)
    };
    let headers = json!({"headers": {
        "earlyRequestHeaders": {"add": [{"name": "a:b", "value": "c"}, {"name": "d", "value": "e\nf"}]},
        "lateResponseHeaders": {"remove": ["x"]},
    }});
    let said = "Headers: EarlyRequestHeaders cannot add a header with a '/' or ':' character in them. Header: '\"a:b\"'\n\
                EarlyRequestHeaders cannot add a header with an invalid value. Header: '\"d\"'\n\
                EarlyRequestHeaders did not provide valid configuration to add/set/remove any headers.";
    assert_eq!(message(&headers, plain).as_deref(), Some(said));
    assert_eq!(message(&headers, secure), None);
    let tls = |tls: Value| json!({"tls": tls});
    for (settings, said) in [
        (
            json!({"ciphers": ["AES128-SHA", "RC4"]}),
            "TLS: unsupported cipher suite: RC4.",
        ),
        (
            json!({"clientValidation": {}}),
            "TLS: tls.clientValidation.mode \"RequireAndVerify\" requires caCertificateRefs.",
        ),
        (
            json!({"clientValidation": {"optional": true}}),
            "TLS: tls.clientValidation.optional=true requires caCertificateRefs (maps to mode \"VerifyIfGiven\").",
        ),
    ] {
        let spec = tls(settings);
        assert_eq!(message(&spec, secure).as_deref(), Some(said));
        assert_eq!(message(&spec, plain), None, "{spec}");
    }
    accepts(
        "ClientTrafficPolicy",
        &[
            tls(json!({"clientValidation": {"mode": "RequireAny"}})),
            tls(json!({"clientValidation": {"caCertificateRefs": [{"name": "ca"}]}})),
            json!({"headers": {"earlyRequestHeaders": {"set": [{"name": "a", "value": "b c"}]}}}),
        ],
    );
    let everywhere = json!({
        "connection": {"connectionLimit": {"closeDelay": "1"}},
        "timeout": {"tcp": {"idleTimeout": "x"}},
        "tcpKeepalive": {"idleTime": "y"},
    });
    let of_nothing = Traffic {
        http: false,
        tls: false,
    };
    assert_eq!(
        message(&everywhere, of_nothing).as_deref(),
        Some(
            "TCP KeepAlive: invalid IdleTime value y\nConnection: invalid CloseDelay value 1\nTimeout: invalid TCP IdleTimeout \
             value x."
        )
    );
}

#[test]
fn who_is_asked_for_a_login_has_addresses_that_go_reads() {
    let provider = |more: Value| {
        let mut provider = json!({"name": "one", "remoteJWKS": {"uri": "https://a.example/jwks"}});
        for (name, value) in more.as_object().expect("settings") {
            provider[name.as_ref()] = value.clone();
        }
        provider
    };
    let of = |provider: Value| json!({"jwt": {"providers": [provider]}});
    let oidc = |field: &str, value: &str| {
        let mut oidc = json!({"provider": {"issuer": "https://a.example"}});
        match field {
            "tokenEndpoint" => oidc["provider"][field] = json!(value),
            _ => oidc[field] = json!(value),
        }
        json!({"oidc": oidc})
    };
    check(
        "SecurityPolicy",
        &[
            (
                of(provider(json!({"issuer": "://a"}))),
                "JWT: invalid issuer; when issuer contains ':' character, it MUST be a valid URI.",
            ),
            (
                of(provider(json!({"issuer": "a@"}))),
                "JWT: invalid issuer; when issuer contains '@' character, it MUST be a valid Email Address format.",
            ),
            (
                of(provider(json!({"remoteJWKS": {"uri": "a.example"}}))),
                "JWT: invalid remote JWKS URI: parse \"a.example\": invalid URI for request.",
            ),
            (
                json!({"jwt": {"providers": [provider(json!({})), provider(json!({}))]}}),
                "JWT: provider name one must be unique.",
            ),
            (
                of(provider(
                    json!({"claimToHeaders": [{"header": "a", "claim": ""}]}),
                )),
                "JWT: claim must be set for claimToHeader provider: .",
            ),
            (
                of(json!({"name": "one", "localJWKS": {"type": "ValueRef"}})),
                "JWT: valueRef must be set for local JWKS provider: one if type is ValueRef.",
            ),
            (
                of(provider(json!({"remoteJWKS": {
                    "uri": "https://a.example", "backendSettings": {"retry": {"perRetry": {"timeout": "x"}}},
                }}))),
                "JWT: time: invalid duration \"x\".",
            ),
            (
                oidc("tokenEndpoint", "https://10.0.0.1:8443/token"),
                "OIDC: token endpoint URL must be a domain name: https://10.0.0.1:8443/token.",
            ),
            (
                oidc("redirectURL", "https://a.example/"),
                "OIDC: invalid redirect URL https://a.example/.",
            ),
            (
                oidc("redirectURL", "ftp://a.example/x"),
                "OIDC: invalid redirect URL ftp://a.example/x.",
            ),
        ],
    );
    accepts(
        "SecurityPolicy",
        &[
            of(provider(json!({"issuer": "a@b.example"}))),
            of(provider(json!({"issuer": "https://a.example"}))),
            of(provider(json!({"issuer": "anybody"}))),
            oidc("tokenEndpoint", "https://a.example:8443/token"),
            oidc("redirectURL", "%REQ(x-forwarded-proto)%://%REQ(:authority)%/cb"),
        ],
    );
}

#[test]
fn authorization_has_ranges_patterns_and_expressions_that_are_such() {
    let rule = |rule: Value| json!({"authorization": {"rules": [rule]}});
    let range = rule(json!({"principal": {"clientCIDRs": ["10.0.0.0/8", "10.0.0.256/8"]}}));
    check(
        "SecurityPolicy",
        &[
            (
                range.clone(),
                "Authorization: unable to translate authorization rule: invalid CIDR address: 10.0.0.256/8.",
            ),
            (
                rule(json!({"operation": {"path": {"type": "RegularExpression", "value": "("}}})),
                "Authorization: unable to translate authorization rule: regex \"(\" is invalid.",
            ),
        ],
    );
    let wrong = rule(json!({"cel": "a =="}));
    let expected = Some("Authorization: invalid CEL expression: a ==.");
    assert_eq!(said("SecurityPolicy", &wrong).as_deref(), expected);
    let place = refused("SecurityPolicy", &range, Traffic::ANY).and_then(|refusal| refusal.pointer);
    assert_eq!(
        place.as_deref(),
        Some("/spec/authorization/rules/0/principal/clientCIDRs/1")
    );
    accepts(
        "SecurityPolicy",
        &[rule(json!({"cel": "request.path.startsWith('/a')"}))],
    );
}

#[test]
fn a_backend_of_a_policy_may_be_refused_unless_requests_pass_without_it() {
    let wrong = json!({"circuitBreaker": {"maxConnections": -1}});
    let mut security = json!({"extAuth": {"grpc": {"backendSettings": wrong}}});
    let mut extension = json!({"extProc": [{"backendSettings": wrong, "messageTimeout": "1d"}]});
    check(
        "SecurityPolicy",
        &[(security.clone(), "ExtAuth: invalid MaxConnections value -1.")],
    );
    check(
        "EnvoyExtensionPolicy",
        &[(
            extension.clone(),
            "ExtProc: invalid ExtProc MessageTimeout value 1d\ninvalid MaxConnections value -1.",
        )],
    );
    security["extAuth"]["failOpen"] = json!(true);
    extension["extProc"][0]["failOpen"] = json!(true);
    accepts("SecurityPolicy", &[security]);
    accepts("EnvoyExtensionPolicy", &[extension]);
}

#[test]
fn a_security_policy_that_does_not_fit_a_route_is_refused_before_its_settings_are_read() {
    let message = |spec: &Value, route: &str| {
        unfit_for_route("SecurityPolicy", spec, route).map(|refusal| refusal.message)
    };
    let passed = json!({"oidc": {"passThroughAuthHeader": true}});
    assert_eq!(
        message(&passed, "HTTPRoute").as_deref(),
        Some(
            "Invalid SecurityPolicy: the OIDC.PassThroughAuthHeader setting must be used in conjunction with JWT settings."
        )
    );
    let cookies = json!({"oidc": {"passThroughAuthHeader": true}, "jwt": {"providers": [{"extractFrom": {"cookies": ["a"]}}]}});
    assert_eq!(
        message(&cookies, "GRPCRoute").as_deref(),
        Some(
            "Invalid SecurityPolicy: the OIDC.PassThroughAuthHeader setting must be used in conjunction with a JWT provider that \
             is configured to read from a header."
        )
    );
    let read = json!({"oidc": {"passThroughAuthHeader": true}, "jwt": {"providers": [{"name": "one"}]}});
    assert_eq!(message(&read, "HTTPRoute"), None);
    for (principal, said) in [
        (json!({"jwt": {}}), "JWT not supported for TCP"),
        (json!({"headers": [{}]}), "headers not supported for TCP"),
        (
            json!({"clientCIDRs": ["a"]}),
            "invalid ClientCIDR \"a\": invalid CIDR address: a",
        ),
    ] {
        let spec = json!({"authorization": {"rules": [{"principal": principal}]}});
        let expected = format!("Invalid SecurityPolicy for TCP route: rule 0: {said}.");
        assert_eq!(message(&spec, "TCPRoute"), Some(expected));
        assert_eq!(message(&spec, "HTTPRoute"), None);
    }
    let ranges = json!({"authorization": {"rules": [{"principal": {"clientCIDRs": ["10.0.0.0/8"]}}]}});
    assert_eq!(message(&ranges, "TCPRoute"), None);
}

#[test]
fn every_rule_of_the_table_has_help_and_an_expression_that_compiles_and_every_group_exists() {
    let tables = &*TABLES;
    let parts = tables.kinds.values().flatten();
    let parts: Vec<&Part> = parts
        .chain(&tables.on_routes)
        .chain(&tables.on_tcp_routes)
        .collect();
    let spec = json!({});
    for group in parts.iter().flat_map(|part| &part.groups) {
        assert!(tables.groups.contains_key(group), "{group}");
    }
    for unless in parts.iter().filter_map(|part| part.unless.as_ref()) {
        assert!(!unless.is_true(&spec, &Field::new(&spec)));
    }
    let rules = parts.iter().flat_map(|part| &part.rules);
    for rule in rules.chain(tables.groups.values().flatten()) {
        assert!(!rule.help().is_empty(), "{rule:?}");
        if let Refuses::If(condition, _) = &rule.refuses {
            condition.is_true(&spec, &Field::new(&spec));
        }
    }
}
