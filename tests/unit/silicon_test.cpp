// Area, energy and peak power: what must hold of any machine, and the published figures that the constants were fitted to.
#include <gtest/gtest.h>

#include <cmath>

#include "config/machine/hardware.h"
#include "facts/presets.h"
#include "silicon/area.h"
#include "silicon/elements.h"
#include "silicon/energy.h"

namespace dlasim::silicon {
namespace silicon_test {

struct Published {
    const char* preset;
    std::vector<std::string> settings;
    double mm2_28nm, mm2_16nm, peak_mw;
};

// NVDLA Primer; what it does not tell is chosen as in scripts/fit_silicon.py.
const std::vector<Published> kPublished{
    {"nv_large", {"memory.has_secondary=false", "memory.fifo_cover_cycles=256"}, 5.5, 3.3, 766},
    {"nv_large",
     {"mac.atomic_k=16", "cbuf.banks=8", "sdp.bs_throughput=8", "sdp.bn_throughput=8", "sdp.ew_throughput=2", "memory.has_secondary=false",
      "memory.fifo_cover_cycles=256"},
     3.0,
     1.8,
     375},
    {"nv_medium_512", {"cbuf.banks=16", "sdp.has_ew=true", "sdp.has_lut=true", "sdp.ew_throughput=2"}, 2.3, 1.4, 210},
    {"nv_small_256_full", {"cbuf.bank_depth=256", "memory.has_secondary=false"}, 1.7, 1.0, 135},
    {"nv_small_256", {"mac.atomic_c=16", "cbuf.bank_depth=512"}, 1.4, 0.84, 82},
    {"nv_small", {}, 0.91, 0.55, 55},
    {"nv_small", {"mac.atomic_k=4", "memory.primary.width_bytes=8"}, 0.85, 0.51, 45},
};

Hardware machine(const Published& row) { return load_hardware(row.preset, row.settings, HardwareRules::Ignored); }
Technology technology(const char* name) { return read_technology(name, "test", ""); }

Activity nothing(double cycles)
{
    Activity a;
    a.cycles = cycles;
    return a;
}

TEST(Silicon, PublishedAreasAreWithinNinePercent)
{
    for (const Published& row : kPublished) {
        EXPECT_NEAR(area_mm2(technology("28nm"), machine(row)), row.mm2_28nm, 0.09 * row.mm2_28nm) << row.mm2_28nm;
        EXPECT_NEAR(area_mm2(technology("16nm"), machine(row)), row.mm2_16nm, 0.09 * row.mm2_16nm) << row.mm2_16nm;
    }
}

TEST(Silicon, PublishedPeaksAreWithinTenPercent)
{
    for (const Published& row : kPublished) EXPECT_NEAR(peak_mw(technology("16nm"), machine(row)), row.peak_mw, 0.1 * row.peak_mw);
}

TEST(Silicon, MoreOfAnythingIsNotSmaller)
{
    const Technology t = technology("16nm");
    const double area = area_mm2(t, load_hardware("nv_medium_1024_full"));
    for (const char* more :
         {"mac.atomic_c=64", "cbuf.bank_depth=1024", "sdp.bs_throughput=16", "sdp.ew_throughput=4", "pdp.throughput=8", "cdp.throughput=8",
          "memory.primary.width_bytes=64", "memory.fifo_cover_cycles=2048", "memory.secondary.bytes=4194305", "fabric.read_credit.pdp=512"})
        EXPECT_GT(area_mm2(t, load_hardware("nv_medium_1024_full", {more}, HardwareRules::Ignored)), area) << more;
    EXPECT_LT(area_mm2(t, load_hardware("nv_medium_1024_full", {"cbuf.banks=31"}, HardwareRules::Ignored)), area);
}

TEST(Silicon, CvsramCostsByItsSize)
{
    const Technology t = technology("16nm");
    const auto mm2 = [&](const char* bytes) {
        return area_mm2(t, load_hardware("nv_large", {std::string("memory.secondary.bytes=") + bytes}));
    };
    const double one = mm2("1048576"), two = mm2("2097152"), four = mm2("4194304");
    EXPECT_NEAR(four - two, 2 * (two - one), 1e-9);
    EXPECT_NEAR(two - one, 1e-6 * (1 << 23) * t.sram_bit_um2, 1e-9);
}

TEST(Silicon, UnitsAddUpToTheMachine)
{
    const Technology t = technology("28nm");
    for (const Hardware& hw : presets()) {
        double um2 = 0;
        for (const UnitArea& unit : area_of(t, hw)) um2 += unit.um2;
        EXPECT_NEAR(area_mm2(t, hw), 1e-6 * um2, 1e-12);
    }
}

TEST(Silicon, NothingDoneCostsLeakageAndControl)
{
    const Technology t = technology("16nm");
    const Hardware& hw = *find_preset("nv_small");
    for (const UnitEnergy& unit : energy_of(t, hw, nothing(1000))) {
        EXPECT_EQ(unit.events_pj, 0) << unit.unit;
        if (unit.unit != "control" && unit.unit != "cacc") EXPECT_EQ(unit.clock_pj, 0) << unit.unit;
        EXPECT_GT(unit.leakage_pj, 0) << unit.unit;
    }
    // 3 mW of a mm2 are 3 pJ of it in a nanosecond.
    double leaked = 0;
    for (const UnitEnergy& unit : energy_of(t, hw, nothing(1000))) leaked += unit.leakage_pj;
    EXPECT_NEAR(leaked, t.leakage_mw_per_mm2 * area_mm2(t, hw) * 1000, 1e-6);
}

TEST(Silicon, HalfTheClockLeaksTwiceAsLongAtItsVoltage)
{
    const Technology t = technology("16nm");
    Hardware hw = *find_preset("nv_small");
    const auto leaked = [&] { return energy_of(t, hw, nothing(1000)).front().leakage_pj; };
    const double at_1000 = leaked();
    hw.clock_mhz = 500;
    EXPECT_DOUBLE_EQ(leaked(), 2 * t.voltage(500) * at_1000);
}

TEST(Silicon, TheVoltageFollowsTheClockByItsLaw)
{
    Technology t = technology("16nm");
    EXPECT_EQ(t.voltage(1000), 1);
    EXPECT_NEAR(t.voltage(1360), 1.25, 0.005);  // 1 V in place of 0.8 V
    for (const double mhz : {50, 200, 500, 900, 1200, 1500}) {
        const double v = t.voltage(mhz);
        EXPECT_NEAR(std::pow((v - t.threshold) / (1 - t.threshold), t.alpha) / v, mhz / 1000, 1e-9) << mhz;
    }
    EXPECT_GT(t.voltage(1), t.least_voltage);
    t.least_voltage = 0.75;
    EXPECT_EQ(t.voltage(100), 0.75);
    t.nominal_mhz = 0;
    EXPECT_EQ(t.voltage(100), 1);
}

TEST(Silicon, EventsAndClocksTakeTheSquareOfTheVoltage)
{
    Technology t = technology("16nm");
    Hardware hw = *find_preset("nv_small");
    hw.clock_mhz = 600;
    Activity a = nothing(0);
    a.counters["cmac_a"]["products"] = 1e6;
    const double at_600 = chip_pj(energy_of(t, hw, a)), volts = t.voltage(600);
    t.nominal_mhz = 0;
    EXPECT_NEAR(at_600, volts * volts * chip_pj(energy_of(t, hw, a)), 1e-6);
    EXPECT_LT(volts, 1);
}

TEST(Silicon, AProductCostsItsPrecision)
{
    const Technology t = technology("45nm");
    const Hardware& hw = *find_preset("nv_full");
    const auto array = [&](Precision precision) {
        Activity a = nothing(0);
        a.precision = precision;
        a.counters["cmac_a"]["products"] = 1e6;
        return chip_pj(energy_of(t, hw, a)) / t.event_share;
    };
    EXPECT_NEAR(array(Precision::Int8), 1e6 * (0.2 + 0.1), 1e-3);
    EXPECT_NEAR(array(Precision::Int16), 1e6 * (0.8 + 0.1), 1e-3);
    EXPECT_NEAR(array(Precision::Fp16), 1e6 * (1.1 + 0.9), 1e-3);
}

TEST(Silicon, MemoriesOfPublishedSizesHaveTheirEnergy)
{
    const Technology t = technology("45nm");
    EXPECT_NEAR(t.memory_pj(8 << 10), 10, 1e-9);
    EXPECT_NEAR(t.memory_pj(32 << 10), 20, 1e-9);
    EXPECT_NEAR(t.memory_pj(1 << 20), 100, 1e-9);
    EXPECT_NEAR(t.memory_pj(2 << 10), 5, 1e-9);
}

TEST(Silicon, AClockThatIsOffCostsNothing)
{
    const Technology t = technology("16nm");
    const Hardware& hw = *find_preset("nv_large");
    Activity half = nothing(1000), all = half;
    half.clock_on["cmac_a"]["op*"] = 500;
    all.clock_on["cmac_a"]["op*"] = 1000;
    const double still = chip_pj(energy_of(t, hw, nothing(1000)));
    EXPECT_NEAR(chip_pj(energy_of(t, hw, all)) - still, 2 * (chip_pj(energy_of(t, hw, half)) - still), 1e-6);
    EXPECT_GT(chip_pj(energy_of(t, hw, half)), still);
}

TEST(Silicon, TheLeastIsNotMoreThanARun)
{
    const Technology t = technology("16nm");
    for (const Hardware& hw : presets()) {
        Activity a = nothing(5000);
        a.counters["cmac_a"]["products"] = a.counters["cmac_b"]["products"] = 500000;
        a.counters["cacc"]["atoms"] = 3000;
        for (const char* domain : {"op0", "op1", "op2", "cell0"}) a.clock_on["csc"][domain] = a.clock_on["cacc"][domain] = 3100;
        a.clock_on["cmac_a"]["op*"] = a.clock_on["cmac_b"]["op*"] = 3050;
        EXPECT_LE(least_pj(t, hw, {1000000, 3000, 4000}), chip_pj(energy_of(t, hw, a)));
        EXPECT_GT(least_pj(t, hw, {1000000, 3000, 4000}), least_pj(t, hw, {1000000, 0, 4000}));
    }
}

}  // namespace silicon_test
}  // namespace dlasim::silicon
