//! Every frame of the event socket, read beside the test.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use chatos_testkit::{RunningHost, eventually};
use serde_json::Value;

use crate::socket;

/// A socket that is read until the host stops or this is told to end.
pub(crate) struct Listener {
    frames: Arc<Mutex<Vec<Value>>>,
    stream: std::net::TcpStream,
    reader: Option<JoinHandle<()>>,
}

impl Listener {
    pub(crate) fn start(host: &RunningHost) -> Self {
        let mut socket = socket::open(host, "");
        let stream = socket.stream().try_clone().unwrap();
        let frames = Arc::<Mutex<Vec<Value>>>::default();
        let kept = Arc::clone(&frames);
        let reader = std::thread::spawn(move || {
            while let Ok(socket::Frame::Text(text)) = socket.next() {
                kept.lock().unwrap().push(serde_json::from_str(&text).unwrap());
            }
        });
        Self { frames, stream, reader: Some(reader) }
    }

    /// Waits until an event of this type with this member came.
    pub(crate) fn until(&self, kind: &str, pointer: &str, value: &Value) {
        eventually(kind, || {
            let frames = self.frames.lock().unwrap();
            let found = |frame: &Value| frame["type"] == kind && frame.pointer(pointer) == Some(value);
            frames.iter().any(found).then_some(())
        });
    }

    /// Ends it and gives every frame.
    pub(crate) fn end(mut self) -> Vec<Value> {
        self.stream.shutdown(std::net::Shutdown::Both).ok();
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        std::mem::take(&mut *self.frames.lock().unwrap())
    }
}
