#include "app/file_options.h"

#include <array>
#include <filesystem>

#include "files/claims.h"

namespace dlasim {
namespace {

constexpr FileOption hardware_row(std::string_view command) { return {command, "--hw", FileUse::NameOrInput, "hardware"}; }
constexpr FileOption memory_row(std::string_view command) { return {command, "--memory", FileUse::NameOrInput, "memory"}; }
constexpr FileOption technology_row(std::string_view command)
{
    return {command, "--technology", FileUse::NameOrInput, "areas and energies"};
}
constexpr FileOption events_row(std::string_view command) { return {command, "--events", FileUse::Output, "events of the run"}; }
constexpr FileOption timeline_row(std::string_view command) { return {command, "--timeline", FileUse::Output, "what ran when"}; }
constexpr FileOption waves_row(std::string_view command) { return {command, "--waves", FileUse::Output, "the signals of the run"}; }
constexpr FileOption html_row(std::string_view command) { return {command, "--html", FileUse::Output, "the page of the run"}; }
constexpr FileOption pipeline_row(std::string_view command) { return {command, "--pipeline", FileUse::Output, "stripes of the run"}; }

constexpr FileOption trace_row(std::string_view command) { return {command, "--trace", FileUse::Output, "bursts of the DMA clients"}; }

constexpr FileOption digest_row(std::string_view command) { return {command, "--digest", FileUse::Output, "states of the units"}; }

constexpr std::array kFileOptions{
    FileOption{"run", "LAYER", FileUse::Input, "a layer or a sweep"},
    hardware_row("run"),
    memory_row("run"),
    technology_row("run"),
    events_row("run"),
    timeline_row("run"),
    waves_row("run"),
    html_row("run"),
    trace_row("run"),
    digest_row("run"),
    pipeline_row("run"),
    FileOption{"run", "--out", FileUse::OutputFolder, "of the result"},
    FileOption{"net", "NETWORK", FileUse::Input, "a network, an ONNX model or a sweep"},
    hardware_row("net"),
    memory_row("net"),
    technology_row("net"),
    FileOption{"net", "--input", FileUse::Input, "images, [NAME=]FILE"},
    FileOption{"net", "--labels", FileUse::Input, "classes"},
    FileOption{"net", "--calibrate", FileUse::Input, "images, [NAME=]FILE"},
    events_row("net"),
    timeline_row("net"),
    waves_row("net"),
    html_row("net"),
    trace_row("net"),
    digest_row("net"),
    pipeline_row("net"),
    FileOption{"net", "--out", FileUse::OutputFolder, "of the result"},
    FileOption{"loadable", "LOADABLE", FileUse::Input, "a file of the NVDLA compiler or a sweep"},
    hardware_row("loadable"),
    memory_row("loadable"),
    technology_row("loadable"),
    FileOption{"loadable", "--input", FileUse::Input, "values of an input"},
    events_row("loadable"),
    timeline_row("loadable"),
    waves_row("loadable"),
    html_row("loadable"),
    trace_row("loadable"),
    digest_row("loadable"),
    pipeline_row("loadable"),
    FileOption{"loadable", "--out", FileUse::OutputFolder, "of the result"},
    FileOption{"export", "FILE", FileUse::Input, "a layer, a network, an ONNX model or a file of the NVDLA compiler"},
    hardware_row("export"),
    memory_row("export"),
    FileOption{"export", "--input", FileUse::Input, "values of an input"},
    FileOption{"export", "--calibrate", FileUse::Input, "images, [NAME=]FILE"},
    FileOption{"export", "--to", FileUse::Output, "a case or a header; the folder of a trace"},
    FileOption{"replay", "PROGRAM", FileUse::Input, "a case or a trace"},
    hardware_row("replay"),
    memory_row("replay"),
    technology_row("replay"),
    events_row("replay"),
    timeline_row("replay"),
    waves_row("replay"),
    html_row("replay"),
    trace_row("replay"),
    digest_row("replay"),
    pipeline_row("replay"),
    FileOption{"replay", "--out", FileUse::OutputFolder, "of the result"},
    hardware_row("test"),
    memory_row("test"),
    FileOption{"test", "--junit", FileUse::Output, "cases and what came of them, for CI systems"},
    FileOption{"test", "--out", FileUse::OutputFolder, "of the results, a folder a case"},
    FileOption{"sweep", "SWEEP", FileUse::Input, "a sweep"},
    technology_row("sweep"),
    FileOption{"sweep", "--collect", FileUse::InputFolder, "of a shard"},
    FileOption{"sweep", "--out", FileUse::OutputFolder, "of the tables"},
    FileOption{"dram", "--preset", FileUse::NameOrInput, "a device"},
    FileOption{"dram", "--set", FileUse::NameOrInput, "standard=FILE, a constraint table"},
    FileOption{"dram", "--log", FileUse::Output, "the command log"},
    FileOption{"dram", "--timeline", FileUse::Output, "a track a bank"},
    FileOption{"dram", "--out", FileUse::Output, "configuration and statistics"},
    FileOption{"bound", "LAYERS", FileUse::Input, "a layer, or a list of them"},
    hardware_row("silicon"),
    technology_row("silicon"),
    FileOption{"silicon", "--of", FileUse::Input, "a result"},
    FileOption{"compare", "A", FileUse::Input, "a result, or its folder"},
    FileOption{"compare", "B", FileUse::Input, "a result, or its folder"},
    FileOption{"explain", "RUN", FileUse::Input, "a result, or its folder"},
};

constexpr std::array kFolderFiles{
    FolderFile{"run", "--out", "result.json", "the result"},
    FolderFile{"run", "--out", "output.npy", "the output tensor, unless --no-tensors or --timing-only"},
    FolderFile{"run", "--out", "COMPUTE_REPORT.csv", "with --scale-sim"},
    FolderFile{"run", "--out", "BANDWIDTH_REPORT.csv", "with --scale-sim"},
    FolderFile{"run", "--out", "plan.json", "with --plan, and nothing else then"},
    FolderFile{"net", "--out", "result.json", "the result"},
    FolderFile{"net", "--out", "layers.csv", "a row a step"},
    FolderFile{"net", "--out", "output.npy", "the first output, unless --timing-only"},
    FolderFile{"net", "--out", "outputs/", "the other outputs of a model"},
    FolderFile{"net", "--out", "tensors/", "with --tensors"},
    FolderFile{"net", "--out", "steps/", "with --steps"},
    FolderFile{"net", "--out", "COMPUTE_REPORT.csv", "with --scale-sim"},
    FolderFile{"net", "--out", "BANDWIDTH_REPORT.csv", "with --scale-sim"},
    FolderFile{"net", "--out", "plan.json", "with --plan, and nothing else then"},
    FolderFile{"loadable", "--out", "result.json", "the result"},
    FolderFile{"loadable", "--out", "output.npy", "the first output, unless --timing-only; output_1.npy is the second"},
    FolderFile{"loadable", "--out", "output.surface", "its memory; output_1.surface is that of the second"},
    FolderFile{"export", "--to", "input.txn", "--form txn"},
    FolderFile{"export", "--to", "test.cfg", "--form cfg"},
    FolderFile{"export", "--to", "memory_0.dat", "of a trace, one for each image of memory"},
    FolderFile{"export", "--to", "output_0.dat", "--form txn, one for each output"},
    FolderFile{"replay", "--out", "result.json", "the result"},
    FolderFile{"sweep", "--out", "points.db", "points that have ended; also points.db-wal, -shm and -journal"},
    FolderFile{"sweep", "--out", "points.csv", "the table"},
    FolderFile{"sweep", "--out", "points.json", "the table"},
    FolderFile{"sweep", "--out", "points.partial.csv", "the table, of a part"},
    FolderFile{"sweep", "--out", "machines.csv", "a row a machine, of a sweep with workloads or requirements"},
    FolderFile{"sweep", "--out", "machines.json", "the same"},
    FolderFile{"sweep", "--out", "sweep.html", "the page"},
    FolderFile{"sweep", "--out", "points/", "a folder a point"},
    FolderFile{"sweep", "--out", "shards/", "with --slurm"},
};

/// A file that does not exist yet counts where no name of something else can stand.
void claim_text(const FileOption& row, const std::string& text)
{
    if (row.use == FileUse::InputFolder) return claim_input_folder(text);
    const std::vector<std::filesystem::path> files = files_named(text);
    for (const std::filesystem::path& file : files) claim_input(file);
    if (files.empty() && row.use == FileUse::Input) claim_input(text);
}

}  // namespace

std::span<const FileOption> file_options() { return kFileOptions; }
std::span<const FolderFile> folder_files() { return kFolderFiles; }

std::string_view use_name(FileUse use)
{
    constexpr std::array<std::string_view, 5> kNames{"input", "input folder", "name or input", "output", "output folder"};
    return kNames[static_cast<std::size_t>(use)];
}

void claim_files(std::string_view command, const std::function<std::vector<std::string>(const std::string&)>& texts)
{
    for (const bool outputs : {false, true})
        for (const FileOption& row : kFileOptions) {
            if (row.command != command || (row.use == FileUse::Output) != outputs || row.use == FileUse::OutputFolder) continue;
            for (const std::string& text : texts(std::string(row.option)))
                if (outputs) expect_no_input(text);
                else claim_text(row, text);
        }
}

}  // namespace dlasim
