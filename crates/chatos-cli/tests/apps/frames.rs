//! What frame routes serve and refuse (host-api §2, security T4), over raw HTTP.

use std::fs;
use std::os::unix::fs::symlink;

use chatos_testkit::{RunningHost, Sandbox};
use serde_json::json;

use crate::support::{PLUGIN, by_name, eventually, hash, open, place, sandbox, serve, trust, write};

fn plugin(sandbox: &Sandbox, id: &str) {
    let dir = place(sandbox, id);
    let manifest = json!({ "id": id, "name": "Tools", "apps": [
        { "id": "hello", "name": "Hello", "entry": { "type": "module", "path": "hello/index.mjs" } },
    ] });
    write(&dir.join("plugin.json"), manifest.to_string());
    write(&dir.join("hello/index.mjs"), "export function mount() {}\n");
    write(&dir.join("hello/a b?#%.js"), "export {};\n");
    write(&dir.join("style.css"), "a{}\n");
    write(&dir.join("data.bin"), [0u8, 1, 2]);
    write(&dir.join("__chatos/frame.html"), "mine");
    write(&dir.join("__chatos/ui/own.js"), "mine");
    fs::create_dir_all(dir.join("folder")).unwrap();
}

fn start() -> (Sandbox, RunningHost, String, String) {
    let sandbox = sandbox();
    plugin(&sandbox, PLUGIN);
    let host = serve(&sandbox);
    trust(&host, PLUGIN);
    let opened = open(&host, PLUGIN, "hello");
    let rev = opened["rev"].as_str().unwrap().to_owned();
    (sandbox, host, format!("p-{}.localhost", hash(PLUGIN)), rev)
}

#[test]
fn a_frame_has_exactly_the_documented_policy_on_every_answer() {
    let (_sandbox, host, name, rev) = start();
    let port = host.port;
    let root = format!("http://{name}:{port}");
    let own = format!("{root}/r/{rev}/ {root}/r/common/ui/ {root}/common/ui/");
    let policy = format!(
        "default-src 'none'; script-src {own} 'wasm-unsafe-eval'; style-src {own} 'unsafe-inline'; \
         img-src {own} data: blob:; font-src {own} data:; media-src {own} data: blob:; connect-src 'self'; \
         worker-src {own} blob:; frame-src 'none'; object-src 'none'; form-action 'none'; base-uri 'none'; \
         frame-ancestors http://127.0.0.1:{port}"
    );
    for path in [
        "__chatos/frame.html?app=hello&surface=full",
        "hello/index.mjs",
        "missing.js",
        "__chatos/bootstrap.js",
    ] {
        let answer = by_name(&host, "GET", &name, &format!("/r/{rev}/{path}"), &[]);
        assert_eq!(answer.header("content-security-policy"), Some(policy.as_str()), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("access-control-allow-origin"), Some(root.as_str()));
        assert_eq!(answer.header("connection-allowlist"), Some("(response-origin)"), "{path}");
        let denied = answer.header("permissions-policy").unwrap();
        for feature in
            ["camera=()", "display-capture=()", "publickey-credentials-get=()", "local-network-access=()"]
        {
            assert!(denied.contains(feature), "{denied}");
        }
        assert_eq!(answer.header("x-dns-prefetch-control"), Some("off"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        for absent in ["x-frame-options", "cross-origin-opener-policy", "set-cookie"] {
            assert_eq!(answer.header(absent), None, "{path}");
        }
    }
    // Below the page's name the frame is opaque and `'self'` would be the page.
    let root = format!("http://127.0.0.1:{port}/plugin-frame/{}", hash(PLUGIN));
    let own = format!("{root}/r/{rev}/ {root}/r/common/ui/ {root}/common/ui/");
    let path = format!("/plugin-frame/{}/r/{rev}/hello/index.mjs", hash(PLUGIN));
    let answer = by_name(&host, "GET", "127.0.0.1", &path, &["Origin: null", "Sec-Fetch-Site: cross-site"]);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("cross-origin-resource-policy"), Some("cross-origin"));
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains(&format!("connect-src {own};")), "{policy}");
    assert!(!policy.contains("'self'"), "{policy}");
    assert!(policy.ends_with("; sandbox allow-scripts allow-forms allow-modals allow-downloads"), "{policy}");
    // There the browser is told addresses: the page's own origin is not the plugin's.
    assert_eq!(
        answer.header("connection-allowlist"),
        Some(format!("(\"{root}/r/{rev}/*\" \"{root}/r/common/ui/*\" \"{root}/common/ui/*\")").as_str())
    );
    // The same revision is nobody's below another name of the page.
    assert_eq!(by_name(&host, "GET", "localhost", &path, &[]).status, 410);
}

#[test]
fn the_page_of_a_frame_repeats_only_known_words() {
    let (_sandbox, host, name, rev) = start();
    let opened = open(&host, PLUGIN, "hello");
    let nonce = opened["nonce"].as_str().unwrap();
    let page = |query: &str| {
        let answer = by_name(&host, "GET", &name, &format!("/r/{rev}/__chatos/frame.html?{query}"), &[]);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        answer.text()
    };
    let good = page(&format!("app=hello&surface=compact&theme=dark&lang=zh&nonce={nonce}"));
    assert!(good.contains(&format!("content=\"{nonce}\"")), "{good}");
    assert!(good.contains("lang=\"zh-CN\" data-theme=\"dark\" data-surface=\"compact\""), "{good}");
    let bad = page("app=%22%3E%3Cscript%3E&surface=%22x&theme=onload&lang=%3Cb%3E&nonce=guess");
    assert!(bad.contains("lang=\"en\" data-theme=\"light\" data-surface=\"full\""), "{bad}");
    assert!(bad.contains("name=\"chatos-nonce\" content=\"\""), "{bad}");
    assert!(!bad.contains("guess") && !bad.contains("onload") && !bad.contains("%3C"), "{bad}");
    // It is what the address of an opened app leads to.
    let url = opened["frameUrl"].as_str().unwrap();
    let path = url.strip_prefix(&format!("http://{name}:{}", host.port)).unwrap();
    assert!(by_name(&host, "GET", &name, path, &[]).text().contains(nonce));
    assert_eq!(opened["fallbackUrl"], format!("/plugin-frame/{}{path}", hash(PLUGIN)));
}

#[test]
fn only_files_inside_the_plugin_are_served_with_their_types() {
    let (sandbox, host, name, rev) = start();
    let get = |path: &str| by_name(&host, "GET", &name, &format!("/r/{rev}/{path}"), &[]);
    for (path, kind) in [
        ("hello/index.mjs", "text/javascript; charset=utf-8"),
        ("hello/a%20b%3F%23%25.js", "text/javascript; charset=utf-8"),
        ("style.css", "text/css; charset=utf-8"),
        ("data.bin", "application/octet-stream"),
        ("plugin.json", "application/json"),
    ] {
        let answer = get(path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)), "{path}");
        assert!(answer.header("cache-control").unwrap().starts_with("private, "), "{path}");
        assert!(answer.header("cache-control").unwrap().ends_with("immutable"), "{path}");
    }
    let head = by_name(&host, "HEAD", &name, &format!("/r/{rev}/style.css"), &[]);
    assert_eq!((head.status, head.header("content-length")), (200, Some("4")));
    for path in [
        "../../../host.json",
        "%2e%2e/%2e%2e/%2e%2e/host.json",
        "hello/%2e%2e/%2e%2e/x",
        "hello//index.mjs",
        "hello%2findex.mjs",
        "hello%5cindex.mjs",
        "hello",
        "hello/",
        "folder",
        "folder/",
        "",
        "missing.js",
        "hello/index.mjs%00.png",
        "%ff",
        "~/x",
        "__chatos/own.js",
        "__chatos/ui/own.js",
        "__chatos/",
        "__chatos/frame.html/x",
        "/etc/passwd",
    ] {
        assert_eq!(get(path).status, 404, "{path}");
    }
    assert_ne!(get("__chatos/frame.html").text(), "mine");
    // A link to the outside makes no file inside, and a link makes other bytes than were trusted.
    symlink("/etc/hostname", place(&sandbox, PLUGIN).join("leak.txt")).unwrap();
    let leaked = get("leak.txt");
    assert!(leaked.status == 404 || leaked.status == 403 || leaked.status == 410, "{}", leaked.status);
}

#[test]
fn shared_modules_are_found_by_every_alias_and_never_cover_a_plugins_file() {
    let (_sandbox, host, name, rev) = start();
    let get = |path: &str| by_name(&host, "GET", &name, path, &[]);
    for path in [
        format!("/r/{rev}/__chatos/ui/tree.js"),
        format!("/r/{rev}/__chatos/ui/tree.mjs"),
        format!("/r/{rev}/common/ui/tree.mjs"),
        "/r/common/ui/tree.mjs".to_owned(),
        "/common/ui/tree.mjs".to_owned(),
        "/common/ui/tree.js".to_owned(),
    ] {
        let answer = get(&path);
        assert_eq!((answer.status, answer.text().as_str()), (200, "export const tree = 1;\n"), "{path}");
        assert_eq!(answer.header("content-type"), Some("text/javascript; charset=utf-8"), "{path}");
    }
    for path in
        ["/common/ui/none.js", "/common/ui/../index.html", "/common/ui/%2e%2e/bootstrap.js", "/common/x.js"]
    {
        assert_eq!(get(path).status, 404, "{path}");
    }
    let tag = get("/common/ui/tree.js").header("etag").unwrap().to_owned();
    let again = by_name(&host, "GET", &name, "/common/ui/tree.js", &[&format!("If-None-Match: {tag}")]);
    assert_eq!(again.status, 304);
}

#[test]
fn a_plugins_name_reaches_nothing_but_frame_routes() {
    let (_sandbox, host, name, rev) = start();
    let token = format!("Authorization: Bearer {}", host.token);
    for path in ["/api/v1/status", "/api", "/api/v1/apps/com.example.tools/hello/open"] {
        for method in ["GET", "POST", "OPTIONS"] {
            let lines = [token.as_str(), "Content-Type: application/json", "Content-Length: 0"];
            assert_eq!(by_name(&host, method, &name, path, &lines).status, 404, "{method} {path}");
        }
    }
    for path in ["/", "/index.html", "/healthz", "/plugin-frame/x", "/assets/x.js", "/frame/bootstrap.js"] {
        let answer = by_name(&host, "GET", &name, path, &[&token]);
        assert_eq!(answer.status, 404, "{path}");
        assert!(!answer.text().contains("the page"), "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let answer = by_name(&host, method, &name, &format!("/r/{rev}/style.css"), &["Content-Length: 0"]);
        assert_eq!(answer.status, 405, "{method}");
    }
    // The API itself refuses a plugin's page twice: by its origin, and because it has no token.
    let origin = format!("Origin: http://{name}:{}", host.port);
    for lines in [vec![token.as_str(), origin.as_str()], vec![token.as_str(), "Origin: null"]] {
        assert_eq!(by_name(&host, "GET", "127.0.0.1", "/api/v1/status", &lines).status, 403, "{lines:?}");
    }
    assert_eq!(by_name(&host, "GET", "127.0.0.1", "/api/v1/status", &[]).status, 401);
    // And the page is not below the prefix of opaque frames.
    for path in ["/plugin-frame/", "/plugin-frame/index.html", "/plugin-frame/../index.html"] {
        let answer = by_name(&host, "GET", "127.0.0.1", path, &[]);
        assert_eq!(answer.status, 404, "{path}");
        assert!(!answer.text().contains("the page"), "{path}");
    }
}

#[test]
fn the_probe_has_its_own_name() {
    let (_sandbox, host, name, rev) = start();
    let page = by_name(&host, "GET", "p-probe.localhost", "/__chatos/probe", &[]);
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text().contains("probe.js"));
    let script = by_name(&host, "GET", "p-probe.localhost", "/__chatos/probe.js", &[]);
    assert!(script.text().contains("chatos: 'probe'"), "{}", script.text());
    assert_eq!(by_name(&host, "GET", &name, "/__chatos/probe", &[]).status, 404);
    assert_eq!(by_name(&host, "GET", "p-probe.localhost", &format!("/r/{rev}/style.css"), &[]).status, 404);
}

#[test]
fn the_probe_tries_with_and_without_the_header_that_is_measured() {
    let (_sandbox, host, _, _) = start();
    let root = format!("http://127.0.0.1:{}/plugin-frame/probe", host.port);
    let below = format!("(\"{root}/__chatos/probe.js\")");
    for (name, base, confined) in
        [("p-probe.localhost", "", "(response-origin)"), ("127.0.0.1", "/plugin-frame/probe", below.as_str())]
    {
        let get = |path: &str| {
            by_name(&host, "GET", name, &format!("{base}/__chatos/{path}"), &["Sec-Fetch-Dest: iframe"])
        };
        let (free, held) = (get("probe"), get("confined"));
        assert_eq!((free.status, free.header("connection-allowlist")), (200, None));
        assert_eq!((held.status, held.header("connection-allowlist")), (200, Some(confined)));
        // No other policy may do what the header is measured for.
        for answer in [free, held] {
            let policy = answer.header("content-security-policy").unwrap();
            assert!(policy.starts_with("frame-ancestors ") && !policy.contains("-src"), "{policy}");
            assert_eq!(policy.contains("; sandbox allow-scripts"), name == "127.0.0.1", "{policy}");
        }
    }
    let seen =
        by_name(&host, "GET", "127.0.0.1", "/plugin-frame/probe/__chatos/seen", &["Sec-Fetch-Mode: no-cors"]);
    assert_eq!((seen.status, seen.header("cross-origin-resource-policy")), (204, Some("cross-origin")));
}

#[test]
fn no_file_of_a_plugin_is_a_page_of_its_own() {
    let sandbox = sandbox();
    plugin(&sandbox, PLUGIN);
    let files = ["page.html", "page.HTM", "page.svg", "page.xml", "page.xhtml", "page.pdf"];
    for file in files {
        write(&place(&sandbox, PLUGIN).join(file), "<script>1</script>");
    }
    let host = serve(&sandbox);
    trust(&host, PLUGIN);
    let rev = open(&host, PLUGIN, "hello")["rev"].as_str().unwrap().to_owned();
    let hash = hash(PLUGIN);
    for (name, base) in [
        (format!("p-{hash}.localhost"), String::new()),
        ("127.0.0.1".to_owned(), format!("/plugin-frame/{hash}")),
    ] {
        let get = |path: &str, dest: &str| {
            by_name(
                &host,
                "GET",
                &name,
                &format!("{base}/r/{rev}/{path}"),
                &[&format!("Sec-Fetch-Dest: {dest}")],
            )
        };
        for dest in ["document", "iframe", "frame", "fencedframe", "object", "embed", "IFRAME"] {
            for path in files.iter().chain(&[
                "hello/index.mjs",
                "style.css",
                "__chatos/bootstrap.js",
                "common/ui/tree.js",
            ]) {
                assert_eq!(get(path, dest).status, 403, "{dest} {path}");
            }
        }
        assert_eq!(get("__chatos/frame.html?app=hello&surface=full", "iframe").status, 200);
        for path in files {
            let answer = get(path, "image");
            let policy = answer.header("content-security-policy").unwrap();
            assert_eq!(answer.status, 200, "{path}");
            assert!(policy.ends_with("; sandbox"), "{path}: {policy}");
        }
        assert!(!get("style.css", "style").header("content-security-policy").unwrap().ends_with("; sandbox"));
    }
}

#[test]
fn service_workers_are_refused() {
    let (_sandbox, host, name, rev) = start();
    let path = format!("/r/{rev}/hello/index.mjs");
    for line in ["Service-Worker: script", "Sec-Fetch-Dest: serviceworker", "SERVICE-WORKER: Script"] {
        assert_eq!(by_name(&host, "GET", &name, &path, &[line]).status, 403, "{line}");
    }
    assert_eq!(by_name(&host, "GET", &name, &path, &["Sec-Fetch-Dest: script"]).status, 200);
}

#[test]
fn an_untrusted_plugin_has_no_frame_and_a_changed_one_loses_it() {
    let sandbox = sandbox();
    plugin(&sandbox, PLUGIN);
    plugin(&sandbox, "com.example.other");
    let host = serve(&sandbox);
    let name = format!("p-{}.localhost", hash(PLUGIN));
    let refused = host.ask("POST", &format!("/api/v1/apps/{PLUGIN}/hello/open"), Some(&json!({})));
    assert_eq!(refused.status, 403, "{}", refused.text());
    assert_eq!(refused.json()["error"]["message"], "Plugin com.example.tools is not trusted");
    assert_eq!(by_name(&host, "GET", &name, "/r/1-x/hello/index.mjs", &[]).status, 403);
    assert_eq!(by_name(&host, "GET", &name, "/common/ui/tree.js", &[]).status, 403);
    assert_eq!(by_name(&host, "GET", "p-00000000000000000000.localhost", "/r/1-x/a.js", &[]).status, 404);

    trust(&host, PLUGIN);
    let rev = open(&host, PLUGIN, "hello")["rev"].as_str().unwrap().to_owned();
    assert_eq!(open(&host, PLUGIN, "hello")["rev"], rev, "the same bytes keep their revision");
    let path = format!("/r/{rev}/style.css");
    assert_eq!(by_name(&host, "GET", &name, &path, &[]).status, 200);
    assert_eq!(by_name(&host, "GET", &name, "/r/1-aaaaaaaaaaaaaaaaaaaaaaaaaa/style.css", &[]).status, 410);
    // Another plugin's revision is none of this one.
    trust(&host, "com.example.other");
    open(&host, "com.example.other", "hello");
    let other = format!("p-{}.localhost", hash("com.example.other"));
    assert_eq!(by_name(&host, "GET", &other, &path, &[]).status, 410);

    // The very next request sees the change, whether or not the watcher has.
    write(&place(&sandbox, PLUGIN).join("style.css"), "b{}\n");
    let status = by_name(&host, "GET", &name, &path, &[]).status;
    assert!(status == 410 || status == 403, "{status}");
    let refused = host.ask("POST", &format!("/api/v1/apps/{PLUGIN}/hello/open"), Some(&json!({})));
    assert_eq!(refused.status, 403, "{}", refused.text());
    eventually("the frame of a changed plugin is gone", || {
        by_name(&host, "GET", &name, &format!("/r/{rev}/hello/index.mjs"), &[]).status == 403
    });
    trust(&host, PLUGIN);
    let newer = open(&host, PLUGIN, "hello")["rev"].as_str().unwrap().to_owned();
    assert_ne!(newer, rev);
    assert_eq!(by_name(&host, "GET", &name, &path, &[]).status, 410);
    assert_eq!(by_name(&host, "GET", &name, &format!("/r/{newer}/style.css"), &[]).text(), "b{}\n");
    let untrusted = host.ask("POST", &format!("/api/v1/plugins/{PLUGIN}/untrust"), Some(&json!({})));
    assert_eq!(untrusted.status, 200);
    assert_eq!(by_name(&host, "GET", &name, &format!("/r/{newer}/style.css"), &[]).status, 403);
}

#[test]
fn opening_says_what_is_wrong() {
    let (_sandbox, host, _, _) = start();
    let open = |plugin: &str, app: &str, body: serde_json::Value| {
        let answer = host.ask("POST", &format!("/api/v1/apps/{plugin}/{app}/open"), Some(&body));
        (answer.status, answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(
        open("com.example.none", "hello", json!({})),
        (404, "Plugin not found: com.example.none".to_owned())
    );
    assert_eq!(open("..", "hello", json!({})).0, 404);
    assert_eq!(open(PLUGIN, "none", json!({})), (404, "App not found: com.example.tools/none".to_owned()));
    let compact = open(PLUGIN, "hello", json!({ "surface": "compact" }));
    assert_eq!(compact, (501, "App com.example.tools/hello only has a full view".to_owned()));
    assert_eq!(open(PLUGIN, "hello", json!({ "surface": "huge" })).0, 400);
}

#[test]
fn a_grant_widens_the_policy_and_its_withdrawal_narrows_it() {
    let (_sandbox, host, name, rev) = start();
    let grant = |capability: &str, value: &str, state: &str| {
        let body = json!({ "pluginId": PLUGIN, "capability": capability, "value": value, "state": state });
        host.ask("PUT", "/api/v1/grants", Some(&body))
    };
    for bad in ["*", "https://*.example.com", "a;script-src *", "'unsafe-inline'", ""] {
        assert_eq!(grant("network", bad, "granted").status, 422, "{bad}");
    }
    assert_eq!(grant("everything", "", "granted").status, 422);
    assert_eq!(grant("unsafe-eval", "x", "granted").status, 422);
    assert_eq!(grant("network", "api.example.com", "granted").status, 200);
    assert_eq!(grant("unsafe-eval", "", "granted").status, 200);
    assert_eq!(by_name(&host, "GET", &name, &format!("/r/{rev}/style.css"), &[]).status, 410);
    let opened = open(&host, PLUGIN, "hello");
    let names: Vec<&str> =
        opened["capabilities"].as_array().unwrap().iter().filter_map(|c| c.as_str()).collect();
    assert!(
        names.contains(&"network") && names.contains(&"unsafe-eval") && names.contains(&"backend"),
        "{names:?}"
    );
    assert!(!names.contains(&"prompts.readAll"), "{names:?}");
    let path = format!("/r/{}/style.css", opened["rev"].as_str().unwrap());
    let answer = by_name(&host, "GET", &name, &path, &[]);
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("connect-src 'self' https://api.example.com wss://api.example.com;"), "{policy}");
    assert!(policy.contains(" 'wasm-unsafe-eval' 'unsafe-eval';"), "{policy}");
    // The browser matches sockets by the address of their handshake; a host that was allowed may send on, and the
    // other policy says where to.
    assert_eq!(
        answer.header("connection-allowlist"),
        Some("(response-origin \"https://api.example.com\");redirects=allow")
    );
    assert_eq!(grant("backend", "", "withdrawn").status, 200);
    let opened = open(&host, PLUGIN, "hello");
    assert!(!opened["capabilities"].as_array().unwrap().contains(&json!("backend")));
    let list = host.ask("GET", &format!("/api/v1/apps/{PLUGIN}/capabilities"), None).json();
    let network =
        list["items"].as_array().unwrap().iter().find(|item| item["capability"] == "network").unwrap();
    assert_eq!(
        network,
        &json!({ "capability": "network", "level": "amber", "requested": true, "declared": false,
        "wanted": false, "default": "ask", "state": "on", "hosts": ["api.example.com"] })
    );
}
