//! Builds the function again whenever the page was built anew: `web/page/dist` is embedded in the binary.

fn main() {
    println!("cargo:rerun-if-changed=../../web/page/dist");
}
