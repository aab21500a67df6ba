//! HTTP on the loopback: a request in, a reply out, and the ways in which a line breaks.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    /// By lower-case name.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// What happens to it on the way.
    pub(crate) line: Line,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Line {
    #[default]
    Good,
    /// Nothing comes, and the line is closed.
    Dead,
    /// Half of the body comes, and the line is closed.
    Half,
    /// All of it comes, so much later.
    Late(Duration),
}

/// Serves until the test's process ends. Gives the address.
pub(super) fn serve(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || {
                if let Some(request) = read(&stream) {
                    let _ = write(&stream, &answer(&request));
                }
            });
        }
    });
    address
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        method,
        path,
        headers,
        body: String::from_utf8(body).ok()?,
    })
}

fn write(mut stream: &TcpStream, reply: &Reply) -> std::io::Result<()> {
    let body = reply.body.as_bytes();
    let sent = match reply.line {
        Line::Dead => return Ok(()),
        Line::Half => &body[..body.len() / 2],
        Line::Late(time) => {
            std::thread::sleep(time);
            body
        }
        Line::Good => body,
    };
    let mut head = format!(
        "HTTP/1.1 {} Model\r\ncontent-length: {}\r\nconnection: close\r\n",
        reply.status,
        body.len()
    );
    for (name, value) in &reply.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    stream.write_all(sent)
}
