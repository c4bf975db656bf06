//! Tests of the limit of groups: no source has more groups than a generation may have.

use proptest::prelude::*;

use super::*;

/// Limits of the built-in job types, and of slow handlers.
fn limits() -> impl Strategy<Value = ChunkLimits> {
    let item_bytes = prop_oneof![Just(1_u64), Just(1 << 10), Just(16 << 20)];
    (prop_oneof![Just(1_u32), Just(10), Just(1_000)], prop_oneof![Just(4_u64 << 10), Just(1 << 20)], item_bytes)
        .prop_map(|(items, bytes, item_bytes)| ChunkLimits { items, bytes, item_bytes })
}

/// Counts the groups of a source whose rows all have the same size: chunk by chunk, without the rows.
fn groups_of_equal_rows(limits: ChunkLimits, size: u64, row: u64) -> u32 {
    let limits = limits.for_file(size);
    let mut growth = Growth { size_bytes: size, carried_over: 0, group: 0 };
    let mut left = size / row;
    while left > 0 {
        for _ in 0..chunks_in_group(growth.group) {
            let rows = |bytes: u64| bytes.div_ceil(row).max(1);
            let least = growth.min_bytes();
            let items = u64::from(limits.items).max(rows(least)).min(rows(limits.bytes.max(least)));
            let open = |items: u64| ChunkPlan {
                first: 1,
                items: items as u32,
                start: 0,
                end: items * row,
                oversize: false,
                keys: None,
            };
            assert!(is_full(limits, growth, &open(items)), "the test cuts as the chunker does");
            assert!(items == 1 || !is_full(limits, growth, &open(items - 1)), "and no later");
            left = left.saturating_sub(items);
        }
        growth.group += 1;
    }
    growth.group
}

/// Counts the groups of rows of these sizes, cut one by one in a generation whose first group is `base`.
fn groups_of(limits: ChunkLimits, rows: impl Iterator<Item = u64> + Clone, carried_over: u32) -> u32 {
    let size = rows.clone().sum();
    let growth = Growth { size_bytes: size, carried_over, group: carried_over };
    let (mut chunker, mut chunks, mut start) = (Chunker::new(limits.for_file(size), 1).growing(growth), 0_usize, 0);
    for row in rows {
        chunker.push(Span { start, content_end: start + row - 1, end: start + row, unterminated: false }, &mut |_| {
            chunks += 1;
        });
        start += row;
    }
    chunks += usize::from(chunker.finish().is_some());
    let mut group = carried_over;
    while chunks > 0 {
        chunks = chunks.saturating_sub(chunks_in_group(group));
        group += 1;
    }
    group - carried_over
}

proptest! {
    #[test]
    fn a_source_of_any_size_has_at_most_500_groups(
        limits in limits(),
        size in prop_oneof![0_u64..1 << 20, 0_u64..5 << 30, 0_u64..5_000_000_000_000],
        row in prop_oneof![2_u64..100, 2_u64..=16 << 20],
    ) {
        prop_assert!(groups_of_equal_rows(limits, size, row) <= GROUPS_PER_GENERATION);
    }

    #[test]
    fn rows_of_all_sizes_mixed_have_at_most_500_groups(
        limits in limits(),
        rows in prop::collection::vec(prop_oneof![2_u64..50, 2_u64..100_000, 16_u64 << 20..20 << 20], 0..20_000),
        carried_over in 0_u32..2_000,
    ) {
        // The maximum size of an upload.
        let fits = |sum: &mut u64, row: &u64| {
            *sum += row;
            (*sum <= 5 << 30).then_some(*row)
        };
        let rows: Vec<_> = rows.iter().scan(0, fits).collect();
        prop_assert!(groups_of(limits, rows.into_iter(), carried_over) <= GROUPS_PER_GENERATION);
    }
}

#[test]
fn fifty_million_short_rows_have_fewer_than_500_groups() {
    let limits = ChunkLimits { items: 1_000, bytes: 1 << 20, item_bytes: 16 << 20 };
    let groups = groups_of(limits, std::iter::repeat_n(5, 50_000_000), 0);
    assert!(groups <= 300, "{groups}");
}

#[test]
fn rows_over_the_limit_in_the_largest_file_leave_room() {
    let limits = ChunkLimits { items: 1, bytes: 1 << 20, item_bytes: 16 << 20 };
    let pairs = (0..5_u64 << 30 >> 24).flat_map(|_| [2, (16 << 20) + 2]);
    assert!(groups_of(limits, pairs, 0) <= 50, "each of them ends a chunk early");
}

#[test]
fn rows_over_a_small_limit_have_at_most_500_groups() {
    let limits = ChunkLimits { items: 1_000, bytes: 4 << 10, item_bytes: 1 << 10 };
    let rows = (1_usize << 30) >> 11;
    let all_too_long = groups_of(limits, std::iter::repeat_n(2 << 10, rows), 0);
    let every_other = groups_of(limits, (0..rows).flat_map(|_| [2, 2 << 10]), 0);
    assert!(all_too_long <= 300 && every_other <= 300, "{all_too_long} {every_other}");
}

/// The worst case: short rows alternating with rows just longer than a full chunk.
#[test]
fn rows_that_are_each_longer_than_a_full_chunk_have_at_most_500_groups() {
    let limits = ChunkLimits { items: 1_000, bytes: 4 << 10, item_bytes: 1 << 10 }.for_file(5 << 30);
    let mut growth = Growth { size_bytes: 5 << 30, carried_over: 0, group: 0 };
    let (mut chunker, mut chunks, mut start) = (Chunker::new(limits, 1).growing(growth), 0_usize, 0);
    while start < growth.size_bytes {
        for row in [3, limits.bytes.max(growth.min_bytes()) + 2] {
            let span = Span { start, content_end: start + row - 1, end: start + row, unterminated: false };
            chunker.push(span, &mut |_| {
                chunks += 1;
                if chunks == chunks_in_group(growth.group) {
                    (chunks, growth.group) = (0, growth.group + 1);
                }
            });
            start += row;
        }
    }
    assert!((350..=GROUPS_PER_GENERATION).contains(&growth.group), "{}", growth.group);
}

#[test]
fn a_second_run_that_begins_at_any_group_cuts_the_same_chunks() {
    let limits = ChunkLimits { items: 2, bytes: 10, item_bytes: 1 };
    let size = 60_000_000_u64;
    let rows: Vec<u64> = (0..2_000).map(|n| [3, 7 + n % 1_500, 40, 2_000 - n][n as usize % 4]).collect();
    let cut = |base_group: u32, from: usize, start: u64| {
        let growth = Growth { size_bytes: size, carried_over: 0, group: base_group };
        let (mut chunker, mut plans, mut start) = (Chunker::new(limits, 1).growing(growth), Vec::new(), start);
        for row in &rows[from..] {
            let span = Span { start, content_end: start + row - 1, end: start + row, unterminated: false };
            chunker.push(span, &mut |plan| plans.push((plan.start, plan.end, plan.oversize)));
            start += row;
        }
        plans.extend(chunker.finish().map(|plan| (plan.start, plan.end, plan.oversize)));
        plans
    };
    let whole = cut(0, 0, 0);
    let (mut first, mut group) = (0, 0);
    while first < whole.len() {
        let (mut row, mut at) = (0, 0);
        while at < whole[first].0 {
            (at, row) = (at + rows[row], row + 1);
        }
        assert_eq!(cut(group, row, at), whole[first..], "from group {group}");
        (first, group) = (first + chunks_in_group(group), group + 1);
    }
    assert!(group > 20 && whole.iter().any(|plan| plan.2) && whole.iter().any(|plan| !plan.2), "{group}");
}

#[test]
fn a_small_job_has_the_chunks_that_its_type_asks_for() {
    let limits = ChunkLimits { items: 1_000, bytes: 1 << 20, item_bytes: 16 << 20 };
    // 100,000 rows of 100 bytes: 2, 4, 8 chunks, and six groups of sixteen.
    assert_eq!(groups_of(limits, std::iter::repeat_n(100, 100_000), 0), 9);
    assert_eq!(groups_of(limits, std::iter::repeat_n(100, 100_000), 700), 7, "of a later generation groups begin full");
}
