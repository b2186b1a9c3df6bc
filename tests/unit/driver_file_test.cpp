// Operations recovered from registers (loadable/write): the inverse of the programmer, over every file of the NVDLA compiler at hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "facts/presets.h"
#include "loadable/graph.h"
#include "loadable/programmer.h"
#include "loadable/write/container_bytes.h"
#include "loadable/write/recovery.h"

namespace dlasim::loadable {
namespace driver_file_test {

namespace fs = std::filesystem;

std::vector<fs::path> compiled_files()
{
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(DLASIM_TEST_DATA) / "loadables"))
        if (entry.path().extension() == ".nvdla") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

Hardware machine_of(const fs::path& file)
{
    const std::string name = file.stem().string();
    for (const char* hw : {"small", "large"})
        if (name.ends_with(hw)) return *find_preset(std::string("nv_") + hw);
    return *find_preset("nv_full");
}

/// All operations of a task, chain after chain: the last unit is enabled first, or last.
Program program_of(const HardwareTask& task, const std::vector<Chain>& chains, const Loadable& file, const MemoryPlan& memories,
                   const Hardware& hardware, bool last_first = true)
{
    Program program;
    Programmer programmer(hardware, file, memories, program);
    programmer.begin(task);
    for (const Chain& chain : chains) {
        std::vector<Prepared> prepared;
        for (auto i = chain.rbegin(); i != chain.rend(); ++i) prepared.push_back(programmer.prepare(*i));
        if (!last_first) std::reverse(prepared.begin(), prepared.end());
        for (auto p = prepared.rbegin(); p != prepared.rend(); ++p) programmer.enable(*p);
    }
    return program;
}

/// Without what goes into registers that no unit looks at in this operation: files of the kernel tests have numbers there.
void forget_unused(Operation& o)
{
    if (o.pdp.splits == 1) o.pdp.partial_in = o.pdp.partial_out = {};
    for (std::size_t i = 0; i < o.sdp.stages.size(); ++i) {
        SdpStage& stage = o.sdp.stages[i];
        if (stage.enable == 0) stage = {};
        if (!stage.adds()) stage.alu_operand = stage.shift = 0;
        if (!stage.multiplies()) stage.multiplier_operand = 0;
        if (stage.type == 0) stage.mode = 0;
        if (stage.reads()) continue;
        stage.precision = 0;
        o.sdp.operands[i] = {};
    }
}

/// The writes of one are those of the other; the first that is not.
std::string difference(const Program& a, const Program& b)
{
    if (a.size() != b.size()) return "number of writes";
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto &x = std::get<RegisterWrite>(a[i]), &y = std::get<RegisterWrite>(b[i]);
        if (x.address != y.address || x.value != y.value) return x.name + " " + std::to_string(x.value) + ", " + std::to_string(y.value);
    }
    return "";
}

TEST(DriverFile, RecoveredOperationsWriteTheRegistersThatTheyWereReadFrom)
{
    std::size_t operations = 0;
    for (const fs::path& path : compiled_files()) {
        const Hardware hardware = machine_of(path);
        const Loadable file = read_loadable(path.string());
        const MemoryPlan memories(file, hardware);
        for (std::size_t t = 0; t < file.tasks.size(); ++t) {
            if (file.tasks[t].interface != Interface::Dla) continue;
            HardwareTask task = read_task(file, memories, t);
            for (Operation& operation : task.operations) forget_unused(operation);
            const std::vector<Chain> chains = chains_of(task);
            const Program written = program_of(task, chains, file, memories, hardware);
            const RecoveredTask recovered = recover_operations(written, hardware, path.string(), [](std::size_t) { return false; }).front();
            ASSERT_EQ(recovered.operations.size(), task.operations.size()) << path;
            std::size_t next = 0;
            for (const Chain& chain : chains)
                for (auto i = chain.rbegin(); i != chain.rend(); ++i) {
                    Operation operation = recovered.operations[next++].operation;
                    Operation& from = task.operations[*i];
                    ASSERT_EQ(operation.kind, from.kind) << path;
                    const std::vector<Cube*> cubes = cubes_of(operation), known = cubes_of(from);
                    for (std::size_t k = 0; k < cubes.size(); ++k) {  // places are addresses here
                        cubes[k]->address = known[k]->address;
                        cubes[k]->offset = known[k]->offset;
                    }
                    for (std::size_t k = 0; k < operation.bdma.transfers.size(); ++k) {
                        operation.bdma.transfers[k].source = from.bdma.transfers[k].source;
                        operation.bdma.transfers[k].destination = from.bdma.transfers[k].destination;
                    }
                    operation.consumers = from.consumers;
                    from = operation;
                    ++operations;
                }
            task.tables = recovered.tables;
            EXPECT_EQ(difference(written, program_of(task, chains, file, memories, hardware)), "") << path;
        }
    }
    EXPECT_GT(operations, 300u);
}

TEST(DriverFile, OperationsAreRecoveredInAnyOrderOfTheirEnables)
{
    std::size_t operations = 0;
    for (const fs::path& path : compiled_files()) {
        const Hardware hardware = machine_of(path);
        const Loadable file = read_loadable(path.string());
        const MemoryPlan memories(file, hardware);
        for (std::size_t t = 0; t < file.tasks.size(); ++t) {
            if (file.tasks[t].interface != Interface::Dla) continue;
            const HardwareTask task = read_task(file, memories, t);
            const std::vector<Chain> chains = chains_of(task);
            const auto recovered = [&](bool last_first) {
                return program_operations(program_of(task, chains, file, memories, hardware, last_first), hardware);
            };
            const std::vector<ProgramOperation> one = recovered(true), other = recovered(false);
            ASSERT_EQ(one.size(), chains.size()) << path;
            ASSERT_EQ(other.size(), chains.size()) << path;
            for (std::size_t i = 0; i < chains.size(); ++i) {
                EXPECT_EQ(one[i].units, other[i].units) << path;
                ASSERT_EQ(one[i].chain.size(), chains[i].size()) << path << " operation " << i;
                ASSERT_EQ(other[i].chain.size(), chains[i].size()) << path << " operation " << i;
                for (std::size_t k = 0; k < chains[i].size(); ++k) {
                    const Operation &a = one[i].chain[k].operation, &b = other[i].chain[k].operation;
                    EXPECT_TRUE(a.kind == b.kind && a.conv == b.conv && a.sdp == b.sdp && a.pdp == b.pdp && a.cdp == b.cdp &&
                                a.rubik == b.rubik && a.bdma == b.bdma)
                        << path << " operation " << i;
                    ++operations;
                }
            }
        }
    }
    EXPECT_GT(operations, 300u);
}

TEST(DriverFile, AContainerIsReadBackAsItWasWritten)
{
    for (const fs::path& path : compiled_files()) {
        const Loadable file = read_loadable(path.string());
        const Loadable again = parse_loadable(loadable_bytes(file), path.string());
        ASSERT_EQ(again.memories.size(), file.memories.size()) << path;
        for (std::size_t i = 0; i < file.memories.size(); ++i) {
            const MemoryEntry &a = file.memories[i], &b = again.memories[i];
            EXPECT_TRUE(a.domain == b.domain && a.flags == b.flags && a.size == b.size && a.alignment == b.alignment && a.bind == b.bind &&
                        a.tensor == b.tensor && a.contents.size() == b.contents.size())
                << path << " memory " << i;
        }
        ASSERT_EQ(again.blobs.size(), file.blobs.size()) << path;
        for (std::size_t i = 0; i < file.blobs.size(); ++i)
            EXPECT_TRUE(std::equal(file.blobs[i].bytes.begin(), file.blobs[i].bytes.end(), again.blobs[i].bytes.begin(),
                                   again.blobs[i].bytes.end()) &&
                        file.blobs[i].name == again.blobs[i].name)
                << path << " blob " << i;
        EXPECT_EQ(again.order, file.order);
        ASSERT_EQ(again.tasks.size(), file.tasks.size());
        for (std::size_t i = 0; i < file.tasks.size(); ++i) EXPECT_EQ(again.tasks[i].addresses, file.tasks[i].addresses);
        ASSERT_EQ(again.tensors.size(), file.tensors.size());
        for (std::size_t i = 0; i < file.tensors.size(); ++i) {
            const TensorEntry &a = file.tensors[i], &b = again.tensors[i];
            EXPECT_TRUE(a.name == b.name && a.type == b.type && a.pixel_format == b.pixel_format && a.n == b.n && a.c == b.c &&
                        a.h == b.h && a.w == b.w && a.size == b.size && a.line_stride == b.line_stride &&
                        a.surface_stride == b.surface_stride)
                << path << " tensor " << i;
        }
    }
}

}  // namespace driver_file_test
}  // namespace dlasim::loadable
