//! A WebSocket client that does exactly what a test says, right or wrong.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use chatos_testkit::{Answer, RunningHost, Wire};
use serde_json::Value;

/// An open socket.
pub(crate) struct Socket {
    stream: TcpStream,
    // Frames that came together with the answer to the upgrade.
    early: VecDeque<u8>,
}

/// One frame as it came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Text(String),
    Ping,
    Close(u16),
}

/// A fresh ticket.
pub(crate) fn ticket(host: &RunningHost) -> String {
    let answer = host.ask("POST", "/api/v1/events/ticket", Some(&serde_json::json!({})));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["ticket"].as_str().unwrap().to_owned()
}

/// Asks for an upgrade with the given sub-protocols and further header lines.
pub(crate) fn upgrade(
    host: &RunningHost,
    query: &str,
    protocols: &str,
    more: &[&str],
) -> Result<Socket, Answer> {
    let mut head = format!(
        "GET /api/v1/events{query} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        host.authority()
    );
    if !protocols.is_empty() {
        head.push_str(&format!("Sec-WebSocket-Protocol: {protocols}\r\n"));
    }
    for line in more {
        head.push_str(&format!("{line}\r\n"));
    }
    head.push_str("\r\n");
    let mut wire = Wire::open(host.port).unwrap();
    let answer = wire.raw(&head, b"").unwrap();
    if answer.status != 101 {
        return Err(answer);
    }
    assert_eq!(answer.header("sec-websocket-protocol"), Some("chatos.v1"));
    let (stream, early) = wire.into_parts();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    Ok(Socket { stream, early: early.into() })
}

/// An ordinary socket with a fresh ticket.
pub(crate) fn open(host: &RunningHost, query: &str) -> Socket {
    let protocols = format!("chatos.v1, ticket.{}", ticket(host));
    upgrade(host, query, &protocols, &[]).unwrap_or_else(|answer| panic!("{answer:?}"))
}

impl Socket {
    /// The stream itself.
    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// The next frame that is not a ping.
    pub(crate) fn next(&mut self) -> io::Result<Frame> {
        loop {
            match self.frame()? {
                Frame::Ping => {}
                frame => return Ok(frame),
            }
        }
    }

    /// The next text frame as JSON.
    pub(crate) fn event(&mut self) -> Value {
        match self.next().unwrap() {
            Frame::Text(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("expected an event: {other:?}"),
        }
    }

    /// The next event of a type; others may come between.
    pub(crate) fn event_of(&mut self, kind: &str) -> Value {
        loop {
            let event = self.event();
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// Reads until the socket closes; the code it closed with.
    pub(crate) fn close_code(&mut self) -> Option<u16> {
        loop {
            match self.next() {
                Ok(Frame::Close(code)) => return Some(code),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// Sends a frame head and payload. A client must mask; a hostile one may not.
    pub(crate) fn send(&mut self, opcode: u8, payload: &[u8], masked: bool) -> io::Result<()> {
        let mut bytes = head(opcode, payload.len() as u64, masked);
        // A mask of zeros is a mask.
        bytes.extend_from_slice(payload);
        self.stream.write_all(&bytes)
    }

    fn read_exact(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let early = self.early.read(buffer)?;
        self.stream.read_exact(&mut buffer[early..])
    }

    fn frame(&mut self) -> io::Result<Frame> {
        let mut start = [0; 2];
        self.read_exact(&mut start)?;
        assert_eq!(start[1] & 0x80, 0, "a server does not mask");
        let length = match start[1] {
            126 => {
                let mut more = [0; 2];
                self.read_exact(&mut more)?;
                u64::from(u16::from_be_bytes(more))
            }
            127 => {
                let mut more = [0; 8];
                self.read_exact(&mut more)?;
                u64::from_be_bytes(more)
            }
            short => u64::from(short),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.read_exact(&mut payload)?;
        Ok(match start[0] & 0x0f {
            1 => Frame::Text(String::from_utf8(payload).unwrap()),
            8 => Frame::Close(payload.get(..2).map_or(1005, |code| u16::from_be_bytes([code[0], code[1]]))),
            9 => Frame::Ping,
            other => panic!("unexpected frame {other}"),
        })
    }
}

/// The first bytes of a frame, with a length that need not be true.
pub(crate) fn head(opcode: u8, length: u64, masked: bool) -> Vec<u8> {
    let mask = if masked { 0x80 } else { 0 };
    let mut bytes = vec![0x80 | opcode];
    match length {
        0..=125 => bytes.push(mask | length as u8),
        126..=65_535 => {
            bytes.push(mask | 0x7e);
            bytes.extend((length as u16).to_be_bytes());
        }
        _ => {
            bytes.push(mask | 0x7f);
            bytes.extend(length.to_be_bytes());
        }
    }
    if masked {
        bytes.extend([0; 4]);
    }
    bytes
}
