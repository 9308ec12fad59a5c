//! Apps while they are used: revisions of their frames, what they may call, and their backends
//! (host-api). The rules of frames as HTTP are in the server; processes are in `chatos-plugins`.

mod agents;
mod apps;
mod backends;
mod capabilities;
mod complete;
mod confinement;
mod events;
mod fault;
mod frames;
mod need;
mod open;
mod own;
mod roots;
mod unstarted;
mod views;

pub use apps::{AppCall, AppHost, AppParts, Apps};
pub use backends::BackendCall;
pub use frames::{FrameAsset, FramePolicy, Looked, Revision, frame_hash};
pub use need::{AppNeed, OpenPage};
pub use open::{OpenOrder, Opened};
pub use own::AppCaller;
pub use roots::{Placed, RunPlace, check_workspace};
pub use views::{OpenedView, View, ViewOrder};
