// What this process reads and what it writes: no file is both. A file is known by its device and inode, so that links to it are the file
// itself; one that does not exist yet by its place in its real folder.
//
//   claim_input(file)     by every reader as it opens a file, and by whoever reads its name earlier: options, JSON
//   OutputClaim(file)     by every OutputFile as it is opened, before the run; by whoever writes or removes by other means
//
// Whichever comes second is refused. Devices, FIFOs and sockets may be both.
//
// Error  ConfigError naming both files.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace dlasim {

/// For good: a file, there or not.
void claim_input(const std::filesystem::path& file);
/// A folder with all below it.
void claim_input_folder(const std::filesystem::path& folder);
/// The files and folders that a text of an option or a key may name: FILE, NAME=FILE, FILE:OPTIONS. Those that exist, from `folder` on or
/// from the working folder.
std::vector<std::filesystem::path> files_named(const std::string& text, const std::filesystem::path& folder = {});
/// True of a file that an input is or has below it.
bool is_input(const std::filesystem::path& file);
/// Refuses what is_input().
void expect_no_input(const std::filesystem::path& output);

/// A place that will be written or removed, as long as this lives.
class OutputClaim {
public:
    enum class Extent { File, Folder };  // of a folder: all below it
    explicit OutputClaim(const std::filesystem::path& path, Extent extent = Extent::File);
    ~OutputClaim();
    OutputClaim(const OutputClaim&) = delete;
    OutputClaim& operator=(const OutputClaim&) = delete;

    struct Place;

private:
    std::unique_ptr<Place> place_;
};

/// True of a file that an OutputClaim names.
bool is_output(const std::filesystem::path& file);

}  // namespace dlasim
