//! Tests of dimensions and crops.

use proptest::prelude::*;

use super::*;

fn size(fit: Fit, width: u32, height: Option<u32>) -> SizeOptions {
    SizeOptions { name: "a".into(), width, height, fit }
}

#[test]
fn a_contained_image_is_whole_and_never_larger() {
    for (width, height, image, expected) in [
        (100, None, (400, 200), (100, 50)),
        (100, Some(100), (400, 200), (100, 50)),
        (100, Some(20), (400, 200), (40, 20)),
        (100, None, (30, 3), (30, 3)),
        (100, Some(8192), (30, 3), (30, 3)),
        (100, None, (16_384, 1), (100, 1)),
        (8192, None, (1_000, 16_384), (500, 8_192)),
        (8192, Some(8192), (10_000, 5_000), (8_192, 4_096)),
        (1, Some(1), (10_000, 5_000), (1, 1)),
        (33, None, (100, 100), (33, 33)),
    ] {
        let placement = Placement::new(&size(Fit::Contain, width, height), image.0, image.1);
        assert_eq!((placement.width, placement.height), expected, "{width} {height:?} {image:?}");
        assert_eq!((placement.crop_width, placement.crop_height), (image.0.into(), image.1.into()));
    }
}

#[test]
fn a_covered_size_has_its_ratio_and_is_never_larger_than_the_image() {
    for (width, height, image, expected, crop) in [
        (100, 100, (400, 200), (100, 100), (200.0, 200.0)),
        (100, 50, (400, 200), (100, 50), (400.0, 200.0)),
        (50, 100, (400, 200), (50, 100), (100.0, 200.0)),
        (300, 300, (400, 200), (200, 200), (200.0, 200.0)),
        (800, 400, (400, 200), (400, 200), (400.0, 200.0)),
        (8192, 1, (400, 200), (400, 1), (400.0, 1.0)),
        (100, 100, (1, 1), (1, 1), (1.0, 1.0)),
    ] {
        let placement = Placement::new(&size(Fit::Cover, width, Some(height)), image.0, image.1);
        assert_eq!((placement.width, placement.height), expected, "{width} x {height} {image:?}");
        assert_eq!((placement.crop_width, placement.crop_height), crop, "{width} x {height} {image:?}");
    }
}

proptest! {
    #[test]
    fn nothing_is_scaled_up_and_a_crop_is_within_the_image(
        (width, height) in (1_u32..=16_384, 1_u32..=16_384),
        (box_width, box_height) in (1_u32..=RESULT_SIDE, 1_u32..=RESULT_SIDE),
        cover in any::<bool>(),
    ) {
        let fit = if cover { Fit::Cover } else { Fit::Contain };
        let placement = Placement::new(&size(fit, box_width, Some(box_height)), width, height);
        prop_assert!((1..=box_width.min(width)).contains(&placement.width));
        prop_assert!((1..=box_height.min(height)).contains(&placement.height));
        prop_assert!(placement.crop_width > 0.0 && placement.crop_width <= width.into());
        prop_assert!(placement.crop_height > 0.0 && placement.crop_height <= height.into());
        // A side of one pixel may show less than one pixel of an image that is very long.
        prop_assert!(placement.crop_width + 0.5 >= placement.width.into() || placement.width == 1);
        prop_assert!(placement.crop_height + 0.5 >= placement.height.into() || placement.height == 1);
    }
}
