//! Tests of the classification: every row of the registries at its edges, and properties of random addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::AddressClass::{self, GlobalUnicast, Special};
use super::Purpose::*;

/// A registry's row; the classes of its first and last address, and of the addresses before and after it.
type Row = (&'static str, AddressClass, AddressClass, AddressClass);

const V4: &[Row] = &[
    ("0.0.0.0/8", Special(Unspecified), GlobalUnicast, GlobalUnicast),
    ("0.0.0.0/32", Special(Unspecified), GlobalUnicast, Special(Unspecified)),
    ("10.0.0.0/8", Special(Private), GlobalUnicast, GlobalUnicast),
    ("100.64.0.0/10", Special(Shared), GlobalUnicast, GlobalUnicast),
    ("127.0.0.0/8", Special(Loopback), GlobalUnicast, GlobalUnicast),
    ("169.254.0.0/16", Special(LinkLocal), GlobalUnicast, GlobalUnicast),
    ("169.254.169.254/32", Special(Metadata), Special(LinkLocal), Special(LinkLocal)),
    ("169.254.170.2/32", Special(Metadata), Special(LinkLocal), Special(LinkLocal)),
    ("169.254.170.23/32", Special(Metadata), Special(LinkLocal), Special(LinkLocal)),
    ("172.16.0.0/12", Special(Private), GlobalUnicast, GlobalUnicast),
    ("192.0.0.0/24", Special(Protocol), GlobalUnicast, GlobalUnicast),
    ("192.0.0.0/29", Special(Protocol), GlobalUnicast, Special(Protocol)),
    ("192.0.0.8/32", Special(Protocol), Special(Protocol), Special(Protocol)),
    ("192.0.0.9/32", Special(Protocol), Special(Protocol), Special(Protocol)),
    ("192.0.0.10/32", Special(Protocol), Special(Protocol), Special(Protocol)),
    ("192.0.0.170/31", Special(Protocol), Special(Protocol), Special(Protocol)),
    ("192.0.0.192/32", Special(Protocol), Special(Protocol), Special(Protocol)),
    ("192.0.2.0/24", Special(Documentation), GlobalUnicast, GlobalUnicast),
    ("192.31.196.0/24", Special(Protocol), GlobalUnicast, GlobalUnicast),
    ("192.52.193.0/24", Special(Protocol), GlobalUnicast, GlobalUnicast),
    ("192.88.99.0/24", Special(SixToFour), GlobalUnicast, GlobalUnicast),
    ("192.88.99.2/32", Special(SixToFour), Special(SixToFour), Special(SixToFour)),
    ("192.168.0.0/16", Special(Private), GlobalUnicast, GlobalUnicast),
    ("192.175.48.0/24", Special(Protocol), GlobalUnicast, GlobalUnicast),
    ("198.18.0.0/15", Special(Benchmarking), GlobalUnicast, GlobalUnicast),
    ("198.51.100.0/24", Special(Documentation), GlobalUnicast, GlobalUnicast),
    ("203.0.113.0/24", Special(Documentation), GlobalUnicast, GlobalUnicast),
    ("224.0.0.0/4", Special(Multicast), GlobalUnicast, Special(Reserved)),
    ("255.255.255.255/32", Special(Broadcast), Special(Reserved), GlobalUnicast),
];

const V6: &[Row] = &[
    ("::/128", Special(Unspecified), GlobalUnicast, Special(Loopback)),
    ("::1/128", Special(Loopback), Special(Unspecified), Special(EmbeddedIpv4)),
    ("::ffff:0:0/96", Special(EmbeddedIpv4), Special(Reserved), Special(Reserved)),
    ("::ffff:0:0:0/96", Special(EmbeddedIpv4), Special(Reserved), Special(Reserved)),
    ("64:ff9b::/96", Special(Nat64), Special(Reserved), Special(Reserved)),
    ("64:ff9b:1::/48", Special(Nat64), Special(Reserved), Special(Reserved)),
    ("100::/64", Special(Reserved), Special(Reserved), Special(Reserved)),
    ("100:0:0:1::/64", Special(Reserved), Special(Reserved), Special(Unallocated)),
    ("2001::/32", Special(Teredo), GlobalUnicast, Special(Protocol)),
    ("2001:1::1/128", Special(Protocol), Special(Protocol), Special(Protocol)),
    ("2001:1::2/127", Special(Protocol), Special(Protocol), Special(Protocol)),
    ("2001:2::/48", Special(Benchmarking), Special(Protocol), Special(Protocol)),
    ("2001:3::/32", Special(Protocol), Special(Protocol), Special(Protocol)),
    ("2001:4:112::/48", Special(Protocol), Special(Protocol), Special(Protocol)),
    ("2001:10::/28", Special(Protocol), Special(Protocol), Special(Protocol)),
    ("2001:20::/28", Special(Protocol), Special(Protocol), Special(Protocol)),
    ("2001:30::/28", Special(Protocol), Special(Protocol), Special(Protocol)),
    ("2001:100::/24", Special(Protocol), Special(Protocol), GlobalUnicast),
    ("2001:db8::/32", Special(Documentation), GlobalUnicast, GlobalUnicast),
    ("2002::/16", Special(SixToFour), GlobalUnicast, GlobalUnicast),
    ("2620:4f:8000::/48", Special(Protocol), GlobalUnicast, GlobalUnicast),
    ("3fff::/20", Special(Documentation), GlobalUnicast, GlobalUnicast),
    ("5f00::/16", Special(SegmentRouting), Special(Unallocated), Special(Unallocated)),
    ("fc00::/8", Special(UniqueLocal), Special(Unallocated), Special(UniqueLocal)),
    ("fd00:ec2::23/128", Special(Metadata), Special(UniqueLocal), Special(UniqueLocal)),
    ("fd00:ec2::254/128", Special(Metadata), Special(UniqueLocal), Special(UniqueLocal)),
    ("fd01::/16", Special(UniqueLocal), Special(UniqueLocal), Special(UniqueLocal)),
    ("fe80::/10", Special(LinkLocal), Special(Unallocated), Special(UniqueLocal)),
    ("fec0::/10", Special(UniqueLocal), Special(LinkLocal), Special(Multicast)),
    ("ff00::/8", Special(Multicast), Special(UniqueLocal), GlobalUnicast),
    ("2000::/16", GlobalUnicast, Special(Unallocated), Special(Teredo)),
    ("4000::/3", Special(Unallocated), GlobalUnicast, Special(Unallocated)),
];

fn block(row: &str) -> (IpAddr, u32) {
    let (first, bits) = row.split_once('/').unwrap();
    (first.parse().unwrap(), bits.parse().unwrap())
}

/// Asserts the four classes of a row; the edges of the address space have no neighbour.
fn assert_row(row: Row, first: u128, last: u128, address: impl Fn(u128) -> Option<IpAddr>) {
    let (name, inside, before, after) = row;
    let class = |number: Option<u128>| number.and_then(&address).map(AddressClass::of);
    assert_eq!(class(Some(first)), Some(inside), "first of {name}");
    assert_eq!(class(Some(last)), Some(inside), "last of {name}");
    assert!(class(first.checked_sub(1)).is_none_or(|class| class == before), "before {name}");
    assert!(class(last.checked_add(1)).is_none_or(|class| class == after), "after {name}");
}

#[test]
fn every_row_of_the_registries_is_refused_from_its_first_to_its_last_address() {
    for row in V4 {
        let (IpAddr::V4(first), bits) = block(row.0) else { panic!("{}", row.0) };
        let last = u32::from(first) | u32::MAX.checked_shr(bits).unwrap_or(0);
        let address = |number| u32::try_from(number).ok().map(|number| IpAddr::V4(number.into()));
        assert_row(*row, u32::from(first).into(), last.into(), address);
    }
    for row in V6 {
        let (IpAddr::V6(first), bits) = block(row.0) else { panic!("{}", row.0) };
        let last = u128::from(first) | u128::MAX.checked_shr(bits).unwrap_or(0);
        assert_row(*row, first.into(), last, |number| Some(IpAddr::V6(number.into())));
    }
}

#[test]
fn addresses_of_public_hosts_are_global_unicast() {
    for address in
        ["1.1.1.1", "8.8.8.8", "52.94.236.248", "172.15.255.255", "172.32.0.0", "192.0.1.255", "223.255.255.255"]
            .into_iter()
            .chain(["2600:1f18::1", "2606:4700:4700::1111", "2a00:1450:4001::1", "2001:200::1", "3ffe::1"])
    {
        assert_eq!(AddressClass::of(address.parse().unwrap()), GlobalUnicast, "{address}");
    }
}

#[test]
fn an_ipv4_address_within_ipv6_is_refused_even_if_it_is_public() {
    for (address, purpose) in [
        ("::ffff:1.1.1.1", EmbeddedIpv4),
        ("::ffff:127.0.0.1", EmbeddedIpv4),
        ("::1.1.1.1", EmbeddedIpv4),
        ("::ffff:0:169.254.169.254", EmbeddedIpv4),
        ("64:ff9b::169.254.169.254", Nat64),
        ("64:ff9b:1::10.0.0.1", Nat64),
        ("2002:7f00:1::", SixToFour),
        ("2001:0:5ef5:79fd::1", Teredo),
    ] {
        assert_eq!(AddressClass::of(address.parse().unwrap()), Special(purpose), "{address}");
    }
}

/// Refusals that the standard library knows; an independent, smaller list.
fn is_local(address: Ipv4Addr) -> bool {
    address.is_private() || address.is_loopback() || address.is_link_local() || address.is_broadcast()
}

proptest! {
    #[test]
    fn what_the_standard_library_calls_special_is_refused(bits: u32) {
        let address = Ipv4Addr::from(bits);
        let special = is_local(address) || address.is_multicast() || address.is_documentation();
        let global = AddressClass::of(address.into()) == GlobalUnicast;
        prop_assert!(!(special && global), "{address}");
    }

    #[test]
    fn no_ipv4_address_is_reached_through_ipv6(bits: u32) {
        let [a, b] = [(bits >> 16) as u16, bits as u16];
        for address in [
            Ipv4Addr::from(bits).to_ipv6_mapped(),
            Ipv4Addr::from(bits).to_ipv6_compatible(),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a, b),
            Ipv6Addr::new(0x64, 0xff9b, 1, a, b, 0, 0, 0),
            Ipv6Addr::new(0x2002, a, b, 0, 0, 0, 0, 1),
            Ipv6Addr::new(0x2001, 0, a, b, 0, 0, !a, !b),
        ] {
            prop_assert_ne!(AddressClass::of(address.into()), GlobalUnicast, "{}", address);
        }
    }

    #[test]
    fn only_2000_3_is_global_unicast(bits: u128) {
        let address = Ipv6Addr::from(bits);
        let global = AddressClass::of(address.into()) == GlobalUnicast;
        prop_assert!(!global || matches!(address.segments()[0], 0x2000..=0x3fff), "{address}");
        prop_assert!(!global || !(address.is_unique_local() || address.is_unicast_link_local()), "{address}");
    }
}
