//! The blocks of addresses that are not global unicast.
//!
//! Rows of the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890, updated by RFC 8190; as of 2025-10),
//! including those that the registries call globally reachable, plus: multicast (RFC 5771, RFC 4291), deprecated forms
//! of IPv6 (RFC 4291, RFC 3879, RFC 2765), and the metadata services of AWS. A block precedes the blocks that contain it.

use std::net::Ipv6Addr;

use crate::address::Purpose;

/// A block of addresses: the first one, and the number of its fixed bits.
pub(crate) struct Block {
    first: u128,
    shift: u32,
    purpose: Purpose,
}

/// Returns the purpose of the first block that contains the address.
pub(crate) fn contains(blocks: &[Block], address: u128) -> Option<Purpose> {
    let same = |block: &&Block| address >> block.shift == block.first >> block.shift;
    blocks.iter().find(same).map(|block| block.purpose)
}

const fn v4(first: [u8; 4], bits: u32, purpose: Purpose) -> Block {
    Block { first: u32::from_be_bytes(first) as u128, shift: 32 - bits, purpose }
}

const fn v6(first: [u16; 8], bits: u32, purpose: Purpose) -> Block {
    let [a, b, c, d, e, f, g, h] = first;
    // Every block has fixed bits, so that the shift is less than 128.
    Block { first: Ipv6Addr::new(a, b, c, d, e, f, g, h).to_bits(), shift: 128 - bits, purpose }
}

/// Blocks of IPv4.
pub(crate) const V4: [Block; 22] = [
    v4([169, 254, 169, 254], 32, Purpose::Metadata),
    v4([169, 254, 170, 2], 32, Purpose::Metadata),
    v4([169, 254, 170, 23], 32, Purpose::Metadata),
    v4([255, 255, 255, 255], 32, Purpose::Broadcast),
    v4([0, 0, 0, 0], 8, Purpose::Unspecified),
    v4([10, 0, 0, 0], 8, Purpose::Private),
    v4([100, 64, 0, 0], 10, Purpose::Shared),
    v4([127, 0, 0, 0], 8, Purpose::Loopback),
    v4([169, 254, 0, 0], 16, Purpose::LinkLocal),
    v4([172, 16, 0, 0], 12, Purpose::Private),
    // With 192.0.0.0/29 and the addresses 8, 9, 10, 170 and 171.
    v4([192, 0, 0, 0], 24, Purpose::Protocol),
    v4([192, 0, 2, 0], 24, Purpose::Documentation),
    v4([192, 31, 196, 0], 24, Purpose::Protocol),
    v4([192, 52, 193, 0], 24, Purpose::Protocol),
    // With 192.88.99.2, the relay of 6a44.
    v4([192, 88, 99, 0], 24, Purpose::SixToFour),
    v4([192, 168, 0, 0], 16, Purpose::Private),
    v4([192, 175, 48, 0], 24, Purpose::Protocol),
    v4([198, 18, 0, 0], 15, Purpose::Benchmarking),
    v4([198, 51, 100, 0], 24, Purpose::Documentation),
    v4([203, 0, 113, 0], 24, Purpose::Documentation),
    v4([224, 0, 0, 0], 4, Purpose::Multicast),
    v4([240, 0, 0, 0], 4, Purpose::Reserved),
];

/// Blocks of IPv6.
pub(crate) const V6: [Block; 24] = [
    v6([0, 0, 0, 0, 0, 0, 0, 0], 128, Purpose::Unspecified),
    v6([0, 0, 0, 0, 0, 0, 0, 1], 128, Purpose::Loopback),
    v6([0, 0, 0, 0, 0, 0, 0, 0], 96, Purpose::EmbeddedIpv4),
    v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, Purpose::EmbeddedIpv4),
    v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, Purpose::EmbeddedIpv4),
    v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, Purpose::Nat64),
    v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, Purpose::Nat64),
    v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64, Purpose::Reserved),
    v6([0x100, 0, 0, 1, 0, 0, 0, 0], 64, Purpose::Reserved),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, Purpose::Teredo),
    v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, Purpose::Benchmarking),
    // With the anycast addresses 2001:1::1 to 3, AMT, AS112, ORCHID and DRIP.
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Purpose::Protocol),
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, Purpose::Documentation),
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, Purpose::SixToFour),
    v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, Purpose::Protocol),
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Purpose::Documentation),
    v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, Purpose::SegmentRouting),
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23], 128, Purpose::Metadata),
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128, Purpose::Metadata),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Purpose::UniqueLocal),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Purpose::LinkLocal),
    v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Purpose::UniqueLocal),
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Purpose::Multicast),
    // The rest of the first /8, which RFC 4291 reserves.
    v6([0, 0, 0, 0, 0, 0, 0, 0], 8, Purpose::Reserved),
];
