#include "app/file_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files/claims.h"

namespace dlasim {
namespace {

constexpr std::string_view kRuns = "run net loadable replay";
/// Of several commands, in the order of a command line.
constexpr std::array kOptionsOfSome{
    FileOption{"run", "LAYER", FileUse::Input, "a layer or a sweep"},
    FileOption{"net", "NETWORK", FileUse::Input, "a network, an ONNX model or a sweep"},
    FileOption{"loadable", "LOADABLE", FileUse::Input, "a file of the NVDLA compiler or a sweep"},
    FileOption{"export", "FILE", FileUse::Input, "a layer, a network, an ONNX model or a file of the NVDLA compiler"},
    FileOption{"lint", "PROGRAM", FileUse::Input, "a case, a trace, or what export takes"},
    FileOption{"replay", "PROGRAM", FileUse::Input, "a case or a trace"},
    FileOption{"sweep", "SWEEP", FileUse::Input, "a sweep"},
    FileOption{"bound", "LAYERS", FileUse::Input, "a layer, or a list of them"},
    FileOption{"compare", "RUN", FileUse::Input, "a result, or its folder"},
    FileOption{"compare", "--baseline", FileUse::InputFolder, "folders of earlier results"},
    FileOption{"compare", "--html", FileUse::Output, "the page of the comparison"},
    FileOption{"explain", "RUN", FileUse::Input, "a result, or its folder"},
    FileOption{"explain", "--html", FileUse::Output, "the page of the explanation"},
    FileOption{"run net loadable export lint replay test silicon", "--hw", FileUse::NameOrInput, "hardware"},
    FileOption{"run net loadable export lint replay test", "--memory", FileUse::NameOrInput, "memory"},
    FileOption{"run net loadable replay sweep silicon", "--technology", FileUse::NameOrInput, "areas and energies"},
    FileOption{"net", "--input", FileUse::Input, "images or a folder of them, [NAME=]FILE"},
    FileOption{"loadable export lint", "--input", FileUse::Input, "values of an input"},
    FileOption{"loadable", "--manifest", FileUse::Input, "where channels in pieces are"},
    FileOption{"net", "--from-plan", FileUse::Input, "tilings and decisions"},
    FileOption{"net", "--labels", FileUse::Input, "classes"},
    FileOption{"net export lint", "--calibrate", FileUse::Input, "images or a folder of them, [NAME=]FILE"},
    FileOption{"silicon", "--of", FileUse::Input, "a result"},
    FileOption{"sweep", "--collect", FileUse::InputFolder, "of a shard"},
    FileOption{"dram", "--preset", FileUse::NameOrInput, "a device"},
    FileOption{"dram", "--set", FileUse::NameOrInput, "standard=FILE, a constraint table"},
    FileOption{kRuns, "--events", FileUse::Output, "events of the run"},
    FileOption{kRuns, "--timeline", FileUse::Output, "timeline of the run"},
    FileOption{kRuns, "--waves", FileUse::Output, "the signals of the run"},
    FileOption{kRuns, "--html", FileUse::Output, "the page of the run"},
    FileOption{kRuns, "--pipeline", FileUse::Output, "stripes of the run"},
    FileOption{kRuns, "--trace", FileUse::Output, "bursts of the DMA clients"},
    FileOption{kRuns, "--accesses", FileUse::Output, "accesses of software on the register bus"},
    FileOption{"run net", "--diff", FileUse::Output, "the output minus the expected tensor"},
    FileOption{"test", "--junit", FileUse::Output, "cases and their results, for CI systems"},
    FileOption{"dram", "--log", FileUse::Output, "the command log"},
    FileOption{"dram", "--timeline", FileUse::Output, "a track a bank"},
    FileOption{"export", "--to", FileUse::Output, "a case or a header; the folder of a trace"},
    FileOption{kRuns, "--out", FileUse::OutputFolder, "of the result"},
    FileOption{"test", "--out", FileUse::OutputFolder, "of the results, a folder per case"},
    FileOption{"sweep", "--out", FileUse::OutputFolder, "of the tables"},
    FileOption{"export", "--golden", FileUse::OutputFolder, "of input and expected tensors, with --form nvdla"},
    FileOption{"dram", "--out", FileUse::Output, "configuration and statistics"},
};

std::vector<FileOption> by_command()
{
    std::vector<FileOption> options;
    for (const std::string_view command :
         {"run", "net", "loadable", "export", "lint", "replay", "test", "sweep", "dram", "bound", "silicon", "compare", "explain"})
        for (const FileOption& some : kOptionsOfSome)
            if (fmt::format(" {} ", some.command).find(fmt::format(" {} ", command)) != std::string::npos)
                options.push_back({command, some.option, some.use, some.what});
    return options;
}

constexpr std::array kFolderFiles{
    FolderFile{"run", "--out", "result.json", "the result"},
    FolderFile{"run", "--out", "output.npy", "the output tensor, unless --no-tensors or --timing-only"},
    FolderFile{"run", "--out", "COMPUTE_REPORT.csv", "with --scale-sim"},
    FolderFile{"run", "--out", "BANDWIDTH_REPORT.csv", "with --scale-sim"},
    FolderFile{"run", "--out", "plan.json", "with --plan, then the only file"},
    FolderFile{"net", "--out", "result.json", "the result"},
    FolderFile{"net", "--out", "layers.csv", "a row a step"},
    FolderFile{"net", "--out", "output.npy", "the first output, unless --timing-only"},
    FolderFile{"net", "--out", "outputs/", "the other outputs of a model"},
    FolderFile{"net", "--out", "tensors/", "with --tensors"},
    FolderFile{"net", "--out", "steps/", "with --steps"},
    FolderFile{"net", "--out", "COMPUTE_REPORT.csv", "with --scale-sim"},
    FolderFile{"net", "--out", "BANDWIDTH_REPORT.csv", "with --scale-sim"},
    FolderFile{"net", "--out", "plan.json", "with --plan, then the only file"},
    FolderFile{"net", "--out", "optimise.db", "with --optimise: what was tried"},
    FolderFile{"loadable", "--out", "result.json", "the result"},
    FolderFile{"loadable", "--out", "output.npy", "the first output, unless --timing-only; output_1.npy is the second"},
    FolderFile{"loadable", "--out", "output.surface", "its memory; output_1.surface is that of the second"},
    FolderFile{"export", "--to", "input.txn", "--form txn"},
    FolderFile{"export", "--to", "test.cfg", "--form cfg"},
    FolderFile{"export", "--to", "memory_0.dat", "of a trace, one for each image of memory"},
    FolderFile{"export", "--to", "output_0.dat", "--form txn, one for each output"},
    FolderFile{"replay", "--out", "result.json", "the result"},
    FolderFile{"sweep", "--out", "points.db", "completed points; also points.db-wal, -shm and -journal"},
    FolderFile{"sweep", "--out", "points.csv", "the table"},
    FolderFile{"sweep", "--out", "points.json", "the table"},
    FolderFile{"sweep", "--out", "points.partial.csv", "the table, of a part"},
    FolderFile{"sweep", "--out", "machines.csv", "a row per machine, of a sweep with workloads or requirements"},
    FolderFile{"sweep", "--out", "machines.json", "the same"},
    FolderFile{"sweep", "--out", "sweep.html", "the page"},
    FolderFile{"sweep", "--out", "points/", "a folder a point"},
    FolderFile{"sweep", "--out", "shards/", "with --slurm"},
};

/// A file that does not exist yet is claimed only where a text cannot be another kind of name.
void claim_text(const FileOption& row, const std::string& text)
{
    if (row.use == FileUse::InputFolder) return claim_input_folder(text);
    const std::vector<std::filesystem::path> files = files_named(text);
    for (const std::filesystem::path& file : files) {
        claim_input(file);
        if (row.use == FileUse::Input) claim_input_folder(file);  // images
    }
    if (files.empty() && row.use == FileUse::Input) claim_input(text);
}

}  // namespace

std::span<const FileOption> file_options()
{
    static const std::vector<FileOption> kOptions = by_command();
    return kOptions;
}

std::span<const FolderFile> folder_files() { return kFolderFiles; }

std::string_view use_name(FileUse use)
{
    constexpr std::array<std::string_view, 5> kNames{"input", "input folder", "name or input", "output", "output folder"};
    return kNames[static_cast<std::size_t>(use)];
}

void claim_files(std::string_view command, const std::function<std::vector<std::string>(const std::string&)>& texts)
{
    for (const FileOption& row : file_options())
        if (row.command == command && std::ranges::any_of(texts(std::string(row.option)), &std::string::empty))
            throw ConfigError(std::string(row.option), fmt::format("found an empty name, expected {}: {}", use_name(row.use), row.what));
    for (const bool outputs : {false, true})
        for (const FileOption& row : file_options()) {
            if (row.command != command || (row.use == FileUse::Output) != outputs || row.use == FileUse::OutputFolder) continue;
            for (const std::string& text : texts(std::string(row.option)))
                if (outputs) expect_no_input(text);
                else claim_text(row, text);
        }
}

}  // namespace dlasim
