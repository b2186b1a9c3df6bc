// The parts of CSC's data loader, each alone. Source: csc.md 1.8, worked example 5.5.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "facts/presets.h"
#include "units/csc/pixel_counter.h"
#include "units/csc/pixel_window.h"
#include "units/csc/window_walk.h"

namespace dlasim::csc {
namespace csc_loader_test {

/// Example 5.5: nv_full int16, three components, kernel row of 11 pixels, x stride 4.
LayerConfig example()
{
    LayerConfig l;
    l.mode = ConvMode::Image;
    l.precision = Precision::Int16;
    l.element_bytes = 2;
    l.last_weight_channel = 32;
    l.last_output_column = 1000;
    l.components = 3;
    l.x_stride = 4;
    l.slice_channels = 64;
    return l;
}

const Hardware& full() { return *find_preset("nv_full"); }

TEST(CscPixelCounter, GivesTheElementsOfTheWorkedExample)
{
    const LayerConfig layer = example();
    PixelCounter pixel(facts::csc::of(full()), 64);
    pixel.start_layer(layer, false);
    Package package;
    for (const std::uint32_t element : {32u, 44u, 56u, 68u, 80u, 92u, 104u, 116u, 128u, 140u, 152u}) {
        EXPECT_EQ(pixel.element(), element);
        pixel.advance(package, false, false);
    }
    // The next kernel row begins at 32 again, the next stripe 64 atoms later.
    pixel.advance(package, true, false);
    EXPECT_EQ(pixel.element(), 32u);
    package.block_end = package.channel_end = true;
    pixel.advance(package, true, false);
    EXPECT_EQ(pixel.element(), 800u);
    // A new output row starts from the beginning.
    pixel.advance(package, true, true);
    EXPECT_EQ(pixel.element(), 32u);
}

// csc.md 1.8.3: with two slices in an entry the half changes with every slice, and with every stripe of odd pixel steps.
TEST(CscPixelCounter, KeepsTheHalfEntryThatAStripeBeginsIn)
{
    LayerConfig layer = example();
    layer.element_bytes = 1;
    layer.x_stride = 1;
    PixelCounter pixel(facts::csc::of(full()), 64);
    pixel.start_layer(layer, true);
    Package slice;
    slice.block_end = true;
    EXPECT_FALSE(pixel.odd());
    pixel.advance(slice, true, false);
    EXPECT_TRUE(pixel.odd());
    Package stripe = slice;
    stripe.channel_end = true;
    pixel.advance(stripe, true, false);
    EXPECT_TRUE(pixel.odd());
    pixel.advance(stripe, true, false);
    EXPECT_FALSE(pixel.odd());
    pixel.advance(stripe, true, true);
    EXPECT_FALSE(pixel.odd());
}

// csc.md 6: the count of slices is one short where the last slice is a full slice plus one element.
TEST(CscPixelCounter, TheConfigurableGenerationCountsSlicesShort)
{
    const Hardware& small = *find_preset("nv_small");
    LayerConfig layer = example();
    layer.element_bytes = 1;
    layer.components = 1;
    layer.x_stride = 1;
    layer.last_weight_channel = 16;  // three slices of 8, 8 and 1 elements
    PixelCounter pixel(facts::csc::of(small), 8);
    pixel.start_layer(layer, false);
    Package slice;
    slice.block_end = true;
    EXPECT_EQ(pixel.element(), 7u);
    pixel.advance(slice, true, false);
    EXPECT_EQ(pixel.element(), 8u);  // 15 would be right
}

// The trace of example 5.5: the atom's first byte, entry by entry.
TEST(CscPixelWindow, AtomsFollowTheShiftTraceOfTheWorkedExample)
{
    Cbuf cbuf(full().cbuf);
    DataRing ring(full(), cbuf);
    const LayerConfig layer = example();
    ring.start_layer(layer);
    PixelWindow window(128);
    window.start_layer();
    PixelCounter pixel(facts::csc::of(full()), 64);
    pixel.start_layer(layer, false);
    std::uint32_t last_entry = UINT32_MAX;
    for (std::uint32_t atom = 0; atom < 11; ++atom) {
        const std::uint32_t entry = pixel.element() * 2 / 128;
        window.begin_fetch();
        if (entry != last_entry) {
            std::uint8_t* const bytes = window.load(true);
            for (std::uint32_t i = 0; i < 128; ++i) bytes[i] = static_cast<std::uint8_t>(entry * 128 + i);
        }
        last_entry = entry;
        if (atom != 0) window.slide(24, true, false);
        std::array<std::uint8_t, 66> got{}, expected{};
        window.copy(got.data(), 66, ring);
        std::iota(expected.begin(), expected.end(), static_cast<std::uint8_t>(24 * atom));  // pixels of 24 bytes a step
        EXPECT_EQ(got, expected) << "atom " << atom;
        pixel.advance({}, false, false);
    }
}

TEST(CscPixelWindow, ARowOutsideOfTheImageReadsAsPadding)
{
    Cbuf cbuf(full().cbuf);
    DataRing ring(full(), cbuf);
    LayerConfig layer = example();
    layer.pad_value = 0x1234;
    ring.start_layer(layer);
    PixelWindow window(128);
    window.start_layer();
    window.begin_fetch();
    window.pad();
    std::array<std::uint8_t, 4> got{};
    window.copy(got.data(), 4, ring);
    EXPECT_EQ(got, (std::array<std::uint8_t, 4>{0x34, 0x12, 0x34, 0x12}));
}

TEST(CscDataRing, AnEntryIsReadOnceWhileItStaysTheSame)
{
    Cbuf cbuf(full().cbuf);
    DataRing ring(full(), cbuf);
    ring.start_layer(example());
    EXPECT_TRUE(ring.request(0, 7, false, 10));
    EXPECT_FALSE(ring.request(0, 7, false, 11));
    EXPECT_TRUE(ring.request(1, 7, false, 12)) << "every kernel row remembers its own";
    EXPECT_TRUE(ring.request(0, 7, true, 13)) << "the first of a stripe is forced";
    ring.forget(0);
    EXPECT_TRUE(ring.request(0, 7, false, 14)) << "padding makes it forget";
    ring.end_package();
    EXPECT_EQ(ring.reads(), 4u);
    EXPECT_EQ(cbuf.data_reads, 4u);
}

TEST(CscDataRing, AddressesWrapOnceAtTheEndOfTheDataBanks)
{
    Cbuf cbuf(full().cbuf);
    DataRing ring(full(), cbuf);
    LayerConfig layer = example();
    layer.data_banks = 2;
    layer.entries = layer.row_entries = 10;
    ring.start_layer(layer);
    EXPECT_EQ(ring.address(3, 0, 4), 34u);
    EXPECT_EQ(ring.release(layer, Slices{50}), Entries{500});
    EXPECT_EQ(ring.address(0, 0, 0), 500u);
    EXPECT_EQ(ring.address(2, 0, 3), 500u + 23 - 512);
    ring.reset();
    EXPECT_EQ(ring.address(0, 0, 0), 0u);
}

// csc.md 1.8.1: inside of a stripe the walk wraps at the last column; only complete sums move the stripe on.
TEST(CscWindowWalk, RepeatsAStripeUntilItsSumsAreComplete)
{
    LayerConfig layer = example();
    layer.last_output_column = 3;
    WindowWalk walk;
    walk.start_layer(layer, -1);
    Package package;
    walk.advance(package, false);
    walk.advance(package, true);
    EXPECT_EQ(walk.column(), 2);
    EXPECT_EQ(walk.row(), -1);
    package.channel_end = true;
    for (int i = 0; i < 3; ++i) walk.advance(package, false);
    EXPECT_TRUE(walk.column_end());
    walk.advance(package, true);
    EXPECT_EQ(walk.row(), 0);
    package.channel_end = false;
    walk.advance(package, false);
    walk.advance(package, true);
    EXPECT_EQ(walk.row(), 0);
    EXPECT_EQ(walk.column(), 2);
}

}  // namespace csc_loader_test
}  // namespace dlasim::csc
