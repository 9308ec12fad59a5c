//! The client against real processes, sockets and servers of other makers.

mod support;

mod calls;
mod children;
mod eras;
mod faults;
mod http;
mod in_process;
mod pool;
mod questions;
mod web;
mod websocket;
