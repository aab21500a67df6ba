//! A package index on the loopback: a few tiny distributions, each with the moment it was uploaded.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use quarry::domain::hash::sha256_hex;

/// One uploaded file.
struct Upload {
    name: String,
    file: String,
    bytes: Vec<u8>,
    /// A wheel's metadata, served beside it (PEP 658), so that whoever resolves needs no wheel.
    metadata: Option<String>,
    moment: String,
}

#[derive(Default)]
struct Shelf {
    uploads: Mutex<Vec<Upload>>,
    down: AtomicBool,
    asked: AtomicUsize,
    /// Whole files that were sent, in order.
    sent: Mutex<Vec<String>>,
}

/// The index; it answers until it is dropped with the test's process.
pub(super) struct Index {
    shelf: Arc<Shelf>,
    address: String,
}

impl Index {
    pub(super) fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shelf = Arc::new(Shelf::default());
        let served = Arc::clone(&shelf);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shelf = Arc::clone(&served);
                std::thread::spawn(move || serve(&stream, &shelf));
            }
        });
        Self { shelf, address }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/simple", self.address)
    }

    pub(super) fn host(&self) -> &str {
        &self.address
    }

    /// From now on every request is answered with "503".
    pub(super) fn go_down(&self) {
        self.shelf.down.store(true, Ordering::SeqCst);
    }

    /// How many requests came in so far.
    pub(super) fn asked(&self) -> usize {
        self.shelf.asked.load(Ordering::SeqCst)
    }

    /// How often a file was sent.
    pub(super) fn fetched(&self, file: &str) -> usize {
        self.shelf
            .sent
            .lock()
            .unwrap()
            .iter()
            .filter(|sent| *sent == file)
            .count()
    }

    fn put(&self, name: &str, file: &str, bytes: Vec<u8>, metadata: Option<String>, moment: &str) {
        self.shelf.uploads.lock().unwrap().push(Upload {
            name: name.to_owned(),
            file: file.to_owned(),
            bytes,
            metadata,
            moment: moment.to_owned(),
        });
    }

    /// Uploads a wheel for any Python, of these files.
    pub(super) fn wheel(
        &self,
        python: &Path,
        name: &str,
        version: &str,
        moment: &str,
        files: &[(&str, &str)],
    ) {
        let file = format!("{name}-{version}-py3-none-any.whl");
        let bytes = pack(python, "wheel", name, version, files);
        let own = files.iter().find(|(path, _)| path.ends_with("/METADATA"));
        let own = own.map_or_else(|| metadata(name, version, &[]), |(_, text)| (*text).to_owned());
        self.put(name, &file, bytes, Some(own), moment);
    }

    /// Uploads a source distribution, of these files.
    pub(super) fn source(
        &self,
        python: &Path,
        name: &str,
        version: &str,
        moment: &str,
        files: &[(&str, &str)],
    ) {
        let bytes = pack(python, "source", name, version, files);
        self.put(name, &format!("{name}-{version}.tar.gz"), bytes, None, moment);
    }
}

fn serve(stream: &TcpStream, shelf: &Shelf) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut request = String::new();
    if reader.read_line(&mut request).is_err() {
        return;
    }
    let mut header = String::new();
    while reader.read_line(&mut header).is_ok_and(|read| read > 2) {
        header.clear();
    }
    shelf.asked.fetch_add(1, Ordering::SeqCst);
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, kind, body) = if shelf.down.load(Ordering::SeqCst) {
        ("503 Service Unavailable", "text/plain", vec![])
    } else {
        answer(path, &shelf.uploads.lock().unwrap())
    };
    if let Some(file) = path
        .strip_prefix("/files/")
        .filter(|_| request.starts_with("GET"))
    {
        shelf.sent.lock().unwrap().push(file.to_owned());
    }
    let mut stream = stream;
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let body = if request.starts_with("HEAD") { vec![] } else { body };
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(&body));
}

fn answer(path: &str, uploads: &[Upload]) -> (&'static str, &'static str, Vec<u8>) {
    if let Some(file) = path.strip_prefix("/files/") {
        let wheel = file.strip_suffix(".metadata");
        if let Some(upload) = uploads.iter().find(|upload| Some(upload.file.as_str()) == wheel)
            && let Some(metadata) = &upload.metadata
        {
            return ("200 OK", "text/plain", metadata.clone().into_bytes());
        }
        return match uploads.iter().find(|upload| upload.file == file) {
            Some(upload) => ("200 OK", "application/octet-stream", upload.bytes.clone()),
            None => ("404 Not Found", "text/plain", vec![]),
        };
    }
    let name = path.trim_start_matches("/simple/").trim_end_matches('/');
    let files: Vec<serde_json::Value> = uploads
        .iter()
        .filter(|upload| upload.name == name)
        .map(|upload| {
            serde_json::json!({
                "filename": upload.file,
                "url": format!("../../files/{}", upload.file),
                "hashes": { "sha256": sha256_hex(&upload.bytes) },
                "core-metadata": upload.metadata.is_some(),
                "upload-time": upload.moment,
                "size": upload.bytes.len(),
            })
        })
        .collect();
    if files.is_empty() {
        return ("404 Not Found", "text/plain", vec![]);
    }
    let page = serde_json::json!({ "meta": { "api-version": "1.1" }, "name": name, "files": files });
    (
        "200 OK",
        "application/vnd.pypi.simple.v1+json",
        page.to_string().into_bytes(),
    )
}

/// Packs files the way a distribution has them; Python has the archive writers.
fn pack(python: &Path, kind: &str, name: &str, version: &str, files: &[(&str, &str)]) -> Vec<u8> {
    const PACKER: &str = "
import base64, hashlib, io, json, sys, tarfile, zipfile
kind, name, version, files = json.load(sys.stdin)
out = io.BytesIO()
if kind == 'wheel':
    info = f'{name}-{version}.dist-info'
    files.setdefault(f'{info}/METADATA', f'Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n')
    files[f'{info}/WHEEL'] = 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n'
    digest = lambda text: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()
    record = ''.join(f'{path},sha256={digest(text)},{len(text.encode())}\\n' for path, text in files.items())
    files[f'{info}/RECORD'] = record + f'{info}/RECORD,,\\n'
    with zipfile.ZipFile(out, 'w') as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), text)
else:
    with tarfile.open(fileobj=out, mode='w:gz') as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(f'{name}-{version}/{path}')
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
sys.stdout.buffer.write(out.getvalue())
";
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let input = serde_json::json!([kind, name, version, files]).to_string();
    let mut child = Command::new(python)
        .args(["-c", PACKER])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the packer failed");
    output.stdout
}

/// A wheel's `METADATA`.
pub(super) fn metadata(name: &str, version: &str, requires: &[&str]) -> String {
    let mut text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
    for requirement in requires {
        let _ = writeln!(text, "Requires-Dist: {requirement}");
    }
    text
}
