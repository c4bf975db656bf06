//! Classification of IP addresses: global unicast, or the special purpose that excludes them.
//!
//! An address counts as global unicast if and only if no row of `registry.rs` contains it and, for IPv6,
//! it is in `2000::/3`, the only part of the address space that is allocated for global unicast. This is stricter than
//! the column "Globally Reachable" of the registries: addresses of protocols (anycast relays, translators, AS112) are
//! reachable, but no endpoint is there, and a translator may lead to a private address.
//!
//! IPv4 addresses within IPv6 (mapped, compatible, translated, NAT64, 6to4, Teredo) are refused without a look at the
//! inner address: a resolver has no reason to return them.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use crate::registry::{V4, V6, contains};

/// The class of an address.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub enum AddressClass {
    /// An address of one host on the public internet.
    GlobalUnicast,
    /// Any other address.
    Special(Purpose),
}

/// The purpose of an address that is not global unicast.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub enum Purpose {
    /// "This network", and the unspecified address of IPv6.
    Unspecified,
    /// Private use (RFC 1918).
    Private,
    /// Carrier-grade NAT (RFC 6598).
    Shared,
    /// The host itself.
    Loopback,
    /// The local link only.
    LinkLocal,
    /// Metadata and credentials of a cloud's machine.
    Metadata,
    /// Protocols of the IETF: anycast relays, AMT, AS112, ORCHID, DRIP.
    Protocol,
    /// Examples in documents.
    Documentation,
    /// Benchmarks of networks.
    Benchmarking,
    /// Many hosts at once.
    Multicast,
    /// All hosts of the local network.
    Broadcast,
    /// Reserved for the future, discard-only and dummy prefixes.
    Reserved,
    /// An IPv4 address in an IPv6 one: mapped, compatible or translated (SIIT).
    EmbeddedIpv4,
    /// A translator from IPv6 to IPv4.
    Nat64,
    /// A relay from IPv6 to IPv4 (6to4, RFC 3056).
    SixToFour,
    /// A tunnel of IPv6 through NAT (RFC 4380).
    Teredo,
    /// Unique local addresses, the private use of IPv6, and the deprecated site-local ones.
    UniqueLocal,
    /// Segments of source routing (RFC 9602).
    SegmentRouting,
    /// IPv6 outside of `2000::/3`.
    Unallocated,
}

impl AddressClass {
    /// Classifies an address.
    pub fn of(address: IpAddr) -> Self {
        let purpose = match address {
            IpAddr::V4(address) => contains(&V4, u32::from(address).into()),
            IpAddr::V6(address) => contains(&V6, address.into()).or_else(|| outside_of_global_unicast(address)),
        };
        purpose.map_or(Self::GlobalUnicast, Self::Special)
    }
}

fn outside_of_global_unicast(address: Ipv6Addr) -> Option<Purpose> {
    let [first, ..] = address.octets();
    (first >> 5 != 0b001).then_some(Purpose::Unallocated)
}

impl fmt::Display for Purpose {
    /// Writes the kind of address, with its article.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "an unspecified address",
            Self::Private => "a private address",
            Self::Shared => "an address of carrier-grade NAT",
            Self::Loopback => "a loopback address",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "the address of a metadata service",
            Self::Protocol => "an address of an internet protocol",
            Self::Documentation => "an address for documentation",
            Self::Benchmarking => "an address for benchmarks",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "the broadcast address",
            Self::Reserved => "a reserved address",
            Self::EmbeddedIpv4 => "an IPv4 address within an IPv6 address",
            Self::Nat64 => "a NAT64 address",
            Self::SixToFour => "a 6to4 address",
            Self::Teredo => "a Teredo address",
            Self::UniqueLocal => "a unique local address",
            Self::SegmentRouting => "a segment identifier",
            Self::Unallocated => "an unallocated address",
        })
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
