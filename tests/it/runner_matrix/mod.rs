//! The runner's Python side under real runners, in the closed room: pytest 3 to 9 on the interpreters of this machine,
//! with xdist, rerunfailures and subtests, and unittest. What is not here is printed by name.

mod bench;
mod pytest;
mod script;
mod trace;
mod unittest;
