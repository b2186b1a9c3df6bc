// The nearest measured program of a run: measured_programs.csv against the measured cases, and distances by hand.
#include "report/nearest_program.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "base/files/input.h"
#include "config/json_object.h"
#include "config/machine/hardware.h"
#include "config/machine/measured.h"
#include "replay/recording.h"

namespace dlasim {
namespace nearest_program_test {

/// Those that finish.
std::vector<MeasuredCase> cases_of(const std::string& configuration)
{
    std::vector<MeasuredCase> list;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(DLASIM_TEST_DATA) / "rtl" / configuration)) {
        MeasuredCase recorded = read_measured_case(entry.path(), std::nullopt);
        if (recorded.expected && recorded.expected->finished) list.push_back(std::move(recorded));
    }
    return list;
}

MeasuredCase case_called(const char* path)
{
    return read_measured_case(std::filesystem::path(DLASIM_TEST_DATA) / "rtl" / path, std::nullopt);
}

/// Measured cases that tests/data does not have.
const std::set<std::string, std::less<>> kElsewhere{"driver_onelayer", "driver_tiny", "driver_wait_pin", "plan_depthwise_two_taps",
                                                    "plan_two_pixel_rows"};

class OfConfiguration : public testing::TestWithParam<const char*> {};

TEST_P(OfConfiguration, EveryOperationOfEveryMeasuredCaseIsInTheTableAndNothingElse)
{
    std::set<std::tuple<std::string, std::string, std::string>> found, listed;
    std::set<std::string, std::less<>> names;
    for (const MeasuredCase& recorded : cases_of(GetParam())) {
        names.insert(recorded.recording.name.substr(recorded.recording.name.find('.') + 1));
        for (const auto& operation : loadable::program_operations(recorded.recording.program, recorded.hardware))
            if (!operation.chain.empty())
                found.emplace(machine_name(recorded.hardware), modes_text(use_of(operation)), sizes_text(use_of(operation)));
    }
    ASSERT_FALSE(found.empty());
    for (const MeasuredOperation& row : measured_operations()) {
        if (!row.machine.starts_with(GetParam()) || (std::string(row.machine) + " ").substr(std::string(GetParam()).size(), 1) != " ")
            continue;
        if (!kElsewhere.contains(row.program)) {
            listed.emplace(row.machine, modes_text(row.use()), sizes_text(row.use()));
            EXPECT_TRUE(names.contains(row.program)) << row.program;
        }
        EXPECT_EQ(row.modes, modes_text(row.use()));
        EXPECT_GT(row.events, 0u) << row.program;
        EXPECT_EQ(row.differing, 0u) << row.program;
    }
    for (const MeasuredOperation& row : measured_operations())  // the first of several is listed
        if (kElsewhere.contains(row.program)) found.erase({std::string(row.machine), modes_text(row.use()), sizes_text(row.use())});
    EXPECT_EQ(found, listed);
}

INSTANTIATE_TEST_SUITE_P(Nearest, OfConfiguration, testing::Values("nv_full", "nv_large", "nv_medium_512", "nv_small", "nv_small_256"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Nearest, EveryMachineOfTheTableIsAMeasuredOneAndNamedAsReportsNameIt)
{
    std::set<std::string> machines;
    for (const MeasuredMachine& machine : measured_machines()) {
        EXPECT_EQ(machine.name, machine_name(machine.hardware));
        EXPECT_TRUE(is_measured(machine.hardware, false));
        machines.insert(machine.name);
    }
    for (const MeasuredOperation& row : measured_operations()) EXPECT_THAT(machines, testing::Contains(row.machine));
}

TEST(Nearest, AMeasuredProgramIsNearestToItself)
{
    const MeasuredCase recorded = case_called("nv_large/dc_int8_odd.json");
    const std::vector<NearestProgram> list = nearest_programs(recorded.recording.program, recorded.hardware);
    ASSERT_EQ(list.size(), 1u);
    EXPECT_TRUE(list[0].same_machine);
    EXPECT_TRUE(list[0].same_modes());
    EXPECT_EQ(list[0].size_ratio, 1);
    EXPECT_EQ(list[0].operations, 1u);
}

TEST(Nearest, OnAMachineThatWasNotMeasuredTheMostAlikeOneCounts)
{
    MeasuredCase recorded = case_called("nv_large/dc_int8_odd.json");
    recorded.hardware = load_hardware("nv_large", {"cbuf.banks=32"});
    const std::vector<NearestProgram> list = nearest_programs(recorded.recording.program, recorded.hardware);
    ASSERT_EQ(list.size(), 1u);
    EXPECT_FALSE(list[0].same_machine);
    EXPECT_EQ(list[0].measured->machine, "nv_large");
    EXPECT_EQ(list[0].size_ratio, 1);
}

TEST(Nearest, TheFarthestOperationOfAKindCountsAndSaysHowFarItIs)
{
    MeasuredCase recorded = case_called("nv_large/dc_int8_odd.json");
    Program& program = recorded.recording.program;
    const std::uint32_t columns = 8192;  // all 13 bits
    for (ProgramEntry& entry : program)
        if (auto* write = std::get_if<RegisterWrite>(&entry); write && write->name == "SDP.D_DATA_CUBE_WIDTH") write->value = columns - 1;
    const std::vector<NearestProgram> list = nearest_programs(program, recorded.hardware);
    ASSERT_EQ(list.size(), 1u);
    std::uint32_t most = 0;
    for (const MeasuredOperation& row : measured_operations())
        if (row.machine == "nv_large" && row.modes == list[0].modes)
            for (const UnitUse& unit : row.use())
                if (unit.unit == "SDP") most = std::max(most, unit.sizes[0]);
    EXPECT_GE(list[0].size_ratio, columns / static_cast<double>(most));
}

}  // namespace nearest_program_test
}  // namespace dlasim
