//! The door for whoever brings rows of another program into `state.db`: `chatos-archive`, and nobody else
//! (decision 0022). Besides these it uses [`Store::write`](crate::Store::write) and
//! [`Store::read`](crate::Store::read) with SQL of its own.

pub use crate::backup::{io_error, make_folder, replace};
pub use crate::db::{beside, open_still};
pub use crate::migrate::refuse_newer;
pub use crate::reseal::refuse_other_key;
pub use crate::secrets::{secret_place, unsealable};
