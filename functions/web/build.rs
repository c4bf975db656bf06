//! Rebuilds the function whenever the page was rebuilt: `web/page/dist` is embedded in the binary.

fn main() {
    println!("cargo:rerun-if-changed=../../web/page/dist");
}
