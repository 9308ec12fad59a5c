//! A server on loopback that takes what is posted to it: the other end of webhooks and ntfy.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use serde_json::Value;

/// Something that was posted.
#[derive(Debug, Clone)]
pub struct Received {
    /// `POST`, usually.
    pub method: String,
    /// The path that was posted to, with its query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte as it came.
    pub body: String,
}

impl Received {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }
}

/// The server; it ends when this is dropped.
pub struct Receiver {
    port: u16,
    stop: Arc<AtomicBool>,
    status: Arc<AtomicU16>,
    received: Arc<Mutex<Vec<Received>>>,
    accepting: Option<JoinHandle<()>>,
}

impl Receiver {
    /// Starts it; it says 200 until told otherwise.
    pub fn start() -> Self {
        let listener = match TcpListener::bind(("127.0.0.1", 0)) {
            Ok(listener) => listener,
            Err(error) => panic!("no port for a receiver: {error}"),
        };
        let port = listener.local_addr().map(|address| address.port()).unwrap_or_default();
        let (stop, status) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU16::new(200)));
        let received = Arc::<Mutex<Vec<Received>>>::default();
        let (ended, says, kept) = (Arc::clone(&stop), Arc::clone(&status), Arc::clone(&received));
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (says, kept) = (Arc::clone(&says), Arc::clone(&kept));
                std::thread::spawn(move || serve(stream, &says, &kept).ok());
            }
        });
        Self { port, stop, status, received, accepting: Some(accepting) }
    }

    /// The address of a path on it.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What it says from now on.
    pub fn say(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    /// Everything that came, oldest first.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the accepting thread; it may be gone already.
        TcpStream::connect(("127.0.0.1", self.port)).ok();
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
    }
}

fn serve(mut stream: TcpStream, says: &AtomicU16, kept: &Mutex<Vec<Received>>) -> std::io::Result<()> {
    let request = read_request(&stream)?;
    kept.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    let status = says.load(Ordering::Relaxed);
    write!(stream, "HTTP/1.1 {status} Said\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}")
}

/// One request, read to its end.
pub(crate) fn read_request(stream: &TcpStream) -> std::io::Result<Received> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or_default();
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Received { method, path, headers, body: String::from_utf8_lossy(&body).into_owned() })
}
