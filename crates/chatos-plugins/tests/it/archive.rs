//! Group B of security §4: archives. Each one is given to the real installer over a state with an
//! installed plugin, which must be untouched, and nothing may appear anywhere else.

use std::fs;
use std::path::Path;

use chatos_plugins::{InstallRequest, Installer, Limits, NoProgress, PackageError};

use crate::support::{World, simple, tree};
use chatos_testkit::zips::{Entry, dir, end, file, plugin_entries, stored, zip};

/// A world with one installed plugin and a canary beside it.
fn world() -> World {
    let world = World::new();
    simple(&world.user("com.example.before"), "com.example.before", &["x"]);
    fs::write(world.temp.path().join("canary"), "alive").unwrap();
    world
}

fn install_bytes(
    world: &World,
    bytes: &[u8],
    limits: Limits,
) -> Result<chatos_plugins::InstallReport, PackageError> {
    let path = world.temp.path().join("package.zip");
    fs::write(&path, bytes).unwrap();
    let result = Installer::new(world.ui_apps(), chatos_contribution::DefaultLists::default())
        .with_limits(limits)
        .install(&InstallRequest::new(&path), &world.registry, &NoProgress);
    fs::remove_file(&path).unwrap();
    result
}

/// The code of a refusal, after checking that nothing else happened.
fn refused(bytes: &[u8]) -> PackageError {
    refused_with(bytes, Limits::default())
}

fn refused_with(bytes: &[u8], limits: Limits) -> PackageError {
    let world = world();
    let before = everything(world.temp.path());
    let error = install_bytes(&world, bytes, limits).expect_err("refused");
    assert_eq!(everything(world.temp.path()), before, "{error}");
    assert!(error.message.en.chars().all(|c| !c.is_control()), "printable: {error}");
    assert!(!error.message.zh.is_empty());
    error
}

/// All files of the state but the lock.
fn everything(root: &Path) -> Vec<(String, String)> {
    tree(root).into_iter().filter(|(name, _)| !name.ends_with("install.lock")).collect()
}

/// The refusal of a valid plugin with one more entry.
fn refused_entry(entry: Entry) -> PackageError {
    let mut entries = plugin_entries("com.example.new");
    entries.push(entry);
    refused(&zip(&entries, b""))
}

#[test]
fn b1_names_that_leave() {
    for name in [
        "../x",
        "a/../../x",
        "/etc/x",
        "C:\\x",
        "c:/x",
        "\\\\host\\share\\x",
        "a\\b",
        "..\\x",
        "a/..\\..\\x",
        "//host/x",
        "..",
    ] {
        let error = refused_entry(file(name, b"canary"));
        assert_eq!(error.code.as_str(), "entry_outside", "{name}");
        assert_eq!(error.entry.as_deref(), Some(name), "names the entry");
    }
}

#[test]
fn b2_links() {
    let link = |name: &str, target: &str| stored(name, target.as_bytes()).mode(0o120_777);
    for entries in [
        vec![link("out", "/etc/passwd")],
        vec![link("in", "a.mjs")],
        vec![link("l1", "l2"), link("l2", "../..")],
        vec![link("dir", "../../.."), file("dir/x", b"canary")],
        vec![link("plugin-link/", "..")],
    ] {
        let mut all = plugin_entries("com.example.new");
        all.extend(entries);
        assert_eq!(refused(&zip(&all, b"")).code.as_str(), "entry_type");
    }
    let manifest_link = [link("plugin.json", "/etc/passwd"), file("a.mjs", b"")];
    assert_eq!(refused(&zip(&manifest_link, b"")).code.as_str(), "entry_type");
}

#[test]
fn b3_bombs() {
    // 1,000 : 1 to 1 GiB, written by its header alone: the reader refuses before inflating.
    let mut honest = file("bomb", &vec![0; 1 << 20]);
    honest.size = 1 << 30;
    assert_eq!(refused_entry(honest).code.as_str(), "package_ratio");
    // A real bomb whose header is honest.
    let big = vec![0; 64 << 20];
    let bomb = file("bomb", &big);
    assert_eq!(refused_entry(bomb.clone()).code.as_str(), "package_ratio");
    // Row 16: header says 10 bytes, data is 64 MiB.
    let mut lying = bomb;
    lying.size = 10;
    assert_eq!(refused_entry(lying).code.as_str(), "package_corrupt");
    // Many entries that are each too small to be asked for a ratio.
    let small: Vec<Entry> = (0..40).map(|n| file(&format!("f{n}"), &vec![0; 1 << 20])).collect();
    let mut all = plugin_entries("com.example.new");
    all.extend(small);
    assert_eq!(refused(&zip(&all, b"")).code.as_str(), "package_ratio");
    // Counts.
    let many: Vec<Entry> = (0..20_001).map(|n| stored(&format!("f{n}"), b"")).collect();
    assert_eq!(refused(&zip(&many, b"")).code.as_str(), "package_too_many_files");
    // The end record's own count is checked first.
    let mut counted = zip(&plugin_entries("com.example.new"), b"");
    let at = counted.len() - 22;
    counted[at + 8..at + 12].copy_from_slice(&[0xff, 0xfe, 0xff, 0xfe]);
    assert_eq!(refused(&counted).code.as_str(), "package_too_many_files");
    // Sizes.
    let limits = Limits { bytes: 1000, ..Limits::default() };
    let mut all = plugin_entries("com.example.new");
    all.push(stored("big", &[7; 1001]));
    assert_eq!(refused_with(&zip(&all, b""), limits).code.as_str(), "package_too_large");
}

#[test]
fn b3_overlaps_and_gaps() {
    // Two entries over the same data.
    let mut all = plugin_entries("com.example.new");
    let twin = Entry { header_at: Some(0), local_name: Some(b"plugin.json".to_vec()), ..all[0].clone() }
        .named(b"twin");
    all.push(twin);
    assert_eq!(refused(&zip(&all, b"")).code.as_str(), "package_corrupt");
    // A quoted overlap: the second header lies inside the first one's data.
    let inner = zip(&[stored("inner", b"x")], b"");
    let mut outer = plugin_entries("com.example.new");
    outer.insert(0, stored("outer", &inner));
    let mut quoted = stored("inner", b"x");
    quoted.header_at = Some(30 + 5);
    outer.push(quoted);
    assert_eq!(refused(&zip(&outer, b"")).code.as_str(), "package_corrupt");
    // Data that belongs to no entry.
    let mut all = plugin_entries("com.example.new");
    all[0].trailer = b"hidden".to_vec();
    assert_eq!(refused(&zip(&all, b"")).code.as_str(), "package_corrupt");
    // An entry the central directory does not list.
    let hidden = file("hidden", b"x");
    let mut all = plugin_entries("com.example.new");
    let local_only = zip(&[hidden], b"");
    all[0].trailer = local_only[..local_only.len() - 22 - 46 - 6].to_vec();
    assert_eq!(refused(&zip(&all, b"")).code.as_str(), "package_corrupt");
}

#[test]
fn b4_collisions() {
    for pair in
        [["x", "x"], ["x", "X"], ["é", "e\u{301}"], ["dir", "dir/x"], ["D/x", "d/y"], ["straße", "STRASSE"]]
    {
        let mut all = plugin_entries("com.example.new");
        all.extend(pair.iter().map(|name| file(name, b"1")));
        let error = refused(&zip(&all, b""));
        assert_eq!(error.code.as_str(), "entry_collision", "{pair:?}: {error}");
    }
    let mut all = plugin_entries("com.example.new");
    all.extend([dir("d/"), file("d", b"")]);
    assert_eq!(refused(&zip(&all, b"")).code.as_str(), "entry_collision");
}

#[test]
fn b5_names() {
    for name in [&b"a\0b"[..], b"a\nb", b"\xff\xfe", b"", b"a//b", b"./a", b"a/.", b"\x1b[31m"] {
        let error = refused_entry(file("x", b"").named(name));
        assert_eq!(error.code.as_str(), "entry_name", "{name:?}");
    }
    for name in ["a".repeat(256), ["d"; 65].join("/"), ["e".repeat(100).as_str(); 11].join("/")] {
        assert_eq!(refused_entry(file(&name, b"")).code.as_str(), "entry_path_too_long");
    }
    // Another name in an extra field that some programs prefer.
    let mut two_names = file("innocent", b"");
    let mut field = vec![1];
    field.extend(crc32fast::hash(b"innocent").to_le_bytes());
    field.extend(b"../evil");
    two_names.extra.extend(0x7075_u16.to_le_bytes());
    two_names.extra.extend((field.len() as u16).to_le_bytes());
    two_names.extra.extend(field);
    assert_eq!(refused_entry(two_names).code.as_str(), "entry_name");
}

#[test]
fn b6_damage() {
    let good = zip(&plugin_entries("com.example.new"), b"");
    let code = |bytes: &[u8]| refused(bytes).code.as_str();
    assert_eq!(code(b""), "package_corrupt");
    assert_eq!(code(b"not a zip file at all, but long enough to hold a record"), "package_corrupt");
    for cut in [1, 10, 22, 23, 40, good.len() / 2, good.len() - 4] {
        assert_eq!(code(&good[..good.len() - cut]), "package_corrupt", "cut {cut}");
    }
    for (front, back) in [(&b"#!/bin/sh\n"[..], &b""[..]), (b"", b"trailing"), (b"MZ", b"x")] {
        let polyglot = [front, &good, back].concat();
        assert_eq!(code(&polyglot), "package_corrupt");
    }
    // Data in front with corrected offsets: the first header is not at the beginning.
    let mut shifted = plugin_entries("com.example.new");
    shifted.insert(0, stored("x", b""));
    let bytes = zip(&shifted, b"");
    assert!(bytes.len() > good.len());
    // Checksums, sizes, methods, encryption.
    let mut bad = file("x", b"content");
    bad.crc ^= 1;
    assert_eq!(refused_entry(bad).code.as_str(), "package_corrupt");
    let mut bad = file("x", b"content");
    bad.size -= 1;
    assert_eq!(refused_entry(bad).code.as_str(), "package_corrupt");
    let mut bad = file("x", b"content");
    bad.size += 1;
    assert_eq!(refused_entry(bad).code.as_str(), "package_corrupt");
    let mut bad = stored("x", b"content");
    bad.size -= 1;
    assert_eq!(refused_entry(bad).code.as_str(), "package_corrupt");
    let mut bad = file("x", b"content");
    bad.data.extend(b"after the stream");
    bad.compressed = bad.data.len() as u32;
    assert_eq!(refused_entry(bad).code.as_str(), "package_corrupt");
    let mut bad = file("x", &[7; 5000]);
    bad.data.truncate(bad.data.len() - 3);
    bad.compressed = bad.data.len() as u32;
    assert_eq!(refused_entry(bad).code.as_str(), "package_corrupt");
    for flags in [0x0801, 0x0840, 0x2800] {
        let mut bad = file("x", b"secret");
        bad.flags = flags;
        assert_eq!(refused_entry(bad).code.as_str(), "entry_encrypted");
    }
    for method in [1, 9, 12, 14, 93, 99] {
        let mut bad = file("x", b"content");
        bad.method = method;
        assert_eq!(refused_entry(bad).code.as_str(), "entry_method");
    }
    // A local header that tells another story.
    let mut bad = file("x", b"content");
    bad.local_name = Some(b"y".to_vec());
    assert_eq!(refused_entry(bad).code.as_str(), "package_corrupt");
    let mut bad = file("x", b"content");
    bad.hide_sizes = true;
    assert_eq!(refused_entry(bad).code.as_str(), "package_corrupt");
    // A second end record in the comment.
    let mut fake = Vec::new();
    end(&mut fake, 0, 0, 0, b"");
    assert_eq!(code(&zip(&plugin_entries("com.example.new"), &fake)), "package_corrupt");
    // Empty, and without a manifest.
    assert_eq!(code(&zip(&[], b"")), "package_no_manifest");
    assert_eq!(code(&zip(&[file("readme.txt", b"")], b"")), "package_no_manifest");
    assert_eq!(code(&zip(&[file("a/b/plugin.json", b"{}")], b"")), "package_no_manifest");
}

#[test]
fn b7_special_files() {
    for mode in [0o010_644, 0o020_644, 0o060_644, 0o140_644, 0o160_644] {
        assert_eq!(refused_entry(stored("special", b"").mode(mode)).code.as_str(), "entry_type", "{mode:o}");
    }
    assert_eq!(refused_entry(stored("dir-by-mode", b"").mode(0o040_755)).code.as_str(), "entry_type");
    let mut with_content = dir("d/");
    with_content.data = b"x".to_vec();
    with_content.size = 1;
    with_content.compressed = 1;
    with_content.crc = crc32fast::hash(b"x");
    assert_eq!(refused_entry(with_content).code.as_str(), "package_corrupt");
}

/// The valid members of the corpus: everything ordinary tools write must pass.
#[test]
fn archives_that_must_be_accepted() {
    let wide = |entry: Entry| {
        // 64-bit sizes in extra fields, as some writers always put them.
        let mut entry = entry;
        let mut field = Vec::new();
        field.extend(1_u16.to_le_bytes());
        field.extend(16_u16.to_le_bytes());
        field.extend(u64::from(entry.size).to_le_bytes());
        field.extend(u64::from(entry.compressed).to_le_bytes());
        entry.extra = field.clone();
        entry.local_extra = field;
        entry
    };
    let base = || plugin_entries("com.example.new");
    let with = |extra: Vec<Entry>| [base(), extra].concat();
    let streamed: Vec<Entry> = base().into_iter().map(|entry| entry.streamed(false, true)).collect();
    let unsigned: Vec<Entry> = base().into_iter().map(|entry| entry.streamed(false, false)).collect();
    let wide_descriptor: Vec<Entry> = base().into_iter().map(|entry| entry.streamed(true, true)).collect();
    let mut dos = base();
    for entry in &mut dos {
        entry.mode = 0;
    }
    let nested: Vec<Entry> = [vec![dir("my-plugin/")], base()]
        .concat()
        .into_iter()
        .map(|entry| {
            let name = if entry.name.ends_with(b"/") {
                entry.name.clone()
            } else {
                [b"my-plugin/", &entry.name[..]].concat()
            };
            entry.named(&name)
        })
        .collect();
    for (what, bytes) in [
        ("plain", zip(&base(), b"")),
        ("with a comment", zip(&base(), b"made by somebody")),
        (
            "directories, unicode, dots",
            zip(&with(vec![dir("d/"), dir("d/e/"), file("d/e/数据 ..x", b"1"), stored("...", b"")]), b""),
        ),
        ("streamed", zip(&streamed, b"")),
        ("streamed without signature", zip(&unsigned, b"")),
        ("streamed with 64-bit sizes", zip(&wide_descriptor, b"")),
        ("made on DOS", zip(&dos, b"")),
        ("one directory", zip(&nested, b"")),
        ("unneeded 64-bit extra", zip(&with(vec![wide(file("w", b"wide"))]), b"")),
        ("incompressible", zip(&with(vec![stored("r", &(0..=255).collect::<Vec<u8>>())]), b"")),
        ("a nested archive", zip(&with(vec![stored("inner.zip", &zip(&[file("../x", b"")], b""))]), b"")),
        (
            "excluded links",
            zip(
                &with(vec![
                    stored("node_modules/.bin/x", b"../y").mode(0o120_777),
                    file(".DS_Store", b""),
                    file("a.mjs.map", b""),
                ]),
                b"",
            ),
        ),
        ("beside", zip(&[nested.clone(), vec![file("__MACOSX/._x", b"")]].concat(), b"")),
    ] {
        let world = world();
        let report = install_bytes(&world, &bytes, Limits::default())
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(report.plugins[0].id.as_str(), "com.example.new", "{what}");
        assert!(world.user("com.example.new/a.mjs").exists(), "{what}");
        assert!(
            !world.user("com.example.new/node_modules").exists()
                && !world.user("com.example.new/a.mjs.map").exists()
        );
    }
}

#[test]
fn row_17_modes_are_normalised() {
    use std::os::unix::fs::PermissionsExt;
    let world = world();
    let mut all = plugin_entries("com.example.new");
    all.push(file("run", b"#!").mode(0o104_777));
    all.push(file("data", b"").mode(0o100_666));
    install_bytes(&world, &zip(&all, b""), Limits::default()).unwrap();
    let mode = |name: &str| {
        fs::metadata(world.user("com.example.new").join(name)).unwrap().permissions().mode() & 0o7777
    };
    assert_eq!((mode("run"), mode("data")), (0o755, 0o644));
}

#[test]
fn real_64_bit_end_records() {
    // A central directory addressed by the 64-bit records.
    let bytes = zip(&plugin_entries("com.example.new"), b"");
    let (body, record) = bytes.split_at(bytes.len() - 22);
    let field = |at: usize| u64::from(u32::from_le_bytes(record[at..at + 4].try_into().unwrap()));
    let (length, at) = (field(12), field(16));
    let mut wide = body.to_vec();
    let record_at = wide.len() as u64;
    wide.extend(0x0606_4b50_u32.to_le_bytes());
    wide.extend(44_u64.to_le_bytes());
    wide.extend([20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for value in [2, 2, length, at] {
        wide.extend(value.to_le_bytes());
    }
    wide.extend(0x0706_4b50_u32.to_le_bytes());
    wide.extend(0_u32.to_le_bytes());
    wide.extend(record_at.to_le_bytes());
    wide.extend(1_u32.to_le_bytes());
    let good = wide.clone();
    end(&mut wide, 0xffff, 0xffff_ffff, 0xffff_ffff, b"");
    install_bytes(&world(), &wide, Limits::default()).unwrap();
    let mut wrong = good.clone();
    end(&mut wrong, 3, length as u32, at as u32, b"");
    assert_eq!(refused(&wrong).code.as_str(), "package_corrupt", "the two end records disagree");
    let mut missing = body.to_vec();
    end(&mut missing, 2, 0xffff_ffff, at as u32, b"");
    assert_eq!(refused(&missing).code.as_str(), "package_corrupt");
}
