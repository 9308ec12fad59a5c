//! A blocking HTTP/1.1 client that sends exactly the bytes it is given: no check stands between a
//! hostile request and the host.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// One connection.
pub struct Wire {
    stream: TcpStream,
    port: u16,
    // Bytes read beyond the last answer.
    rest: Vec<u8>,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The value of a header that may occur once.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

impl Wire {
    /// Connects to a port of this machine.
    pub fn open(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        // A host that does not answer by then has failed the test; the error says so.
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        stream.set_write_timeout(Some(Duration::from_secs(60)))?;
        Ok(Self { stream, port, rest: Vec::new() })
    }

    /// The socket itself.
    pub fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// No more bytes from this side.
    pub fn finish(&mut self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)
    }

    /// Sends a request with the token and reads its answer; the connection stays open.
    pub fn ask(&mut self, token: &str, method: &str, path: &str, body: Option<&Value>) -> io::Result<Answer> {
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {token}\r\n",
            self.port
        );
        let text = body.map(Value::to_string).unwrap_or_default();
        if body.is_some() {
            head.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n", text.len()));
        }
        self.send(format!("{head}\r\n{text}").as_bytes())?;
        self.answer(method == "HEAD")
    }

    /// Sends a request made of its parts and reads its answer.
    pub fn raw(&mut self, head: &str, body: &[u8]) -> io::Result<Answer> {
        self.send(head.as_bytes())?;
        self.send(body)?;
        self.answer(head.starts_with("HEAD "))
    }

    /// Reads one answer. `head_only`: it has no body whatever its headers say.
    pub fn answer(&mut self, head_only: bool) -> io::Result<Answer> {
        let end = loop {
            if let Some(place) = find(&self.rest, b"\r\n\r\n") {
                break place;
            }
            self.more()?;
        };
        let head: Vec<u8> = self.rest.drain(..end + 4).collect();
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("not an answer: {head}")))?;
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut answer = Answer { status, headers, body: Vec::new() };
        if head_only || status == 204 || status == 304 || (100..200).contains(&status) {
            return Ok(answer);
        }
        if let Some(length) = answer.header("content-length").and_then(|value| value.parse().ok()) {
            answer.body = self.take(length)?;
        } else if answer.header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            loop {
                let size = self.line()?;
                let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
                let chunk = self.take(size)?;
                self.line()?;
                if size == 0 {
                    break;
                }
                answer.body.extend(chunk);
            }
        } else {
            while self.more().is_ok() {}
            answer.body = std::mem::take(&mut self.rest);
        }
        Ok(answer)
    }

    /// Reads until the other side closes; what it still said. An error is a reset.
    pub fn rest(&mut self) -> io::Result<Vec<u8>> {
        let mut all = std::mem::take(&mut self.rest);
        self.stream.read_to_end(&mut all)?;
        Ok(all)
    }

    /// The plain socket after an upgrade, and the bytes that already came through it.
    pub fn into_parts(self) -> (TcpStream, Vec<u8>) {
        (self.stream, self.rest)
    }

    fn take(&mut self, count: usize) -> io::Result<Vec<u8>> {
        while self.rest.len() < count {
            self.more()?;
        }
        Ok(self.rest.drain(..count).collect())
    }

    fn line(&mut self) -> io::Result<String> {
        let end = loop {
            if let Some(place) = find(&self.rest, b"\r\n") {
                break place;
            }
            self.more()?;
        };
        let line: Vec<u8> = self.rest.drain(..end + 2).collect();
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    fn more(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        let count = self.stream.read(&mut buffer)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.rest.extend_from_slice(&buffer[..count]);
        Ok(())
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}
