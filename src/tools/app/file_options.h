// Which options name files, and which of these are read and which written; the contents of folders that options name. The table keeps
// outputs off inputs before a command begins (files/claims.h), is a chapter of the reference, and the list of pairs for a test.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlasim {

enum class FileUse { Input, InputFolder, NameOrInput, Output, OutputFolder };

struct FileOption {
    std::string_view command, option;  // "run", "--events"; a name without dashes is the argument
    FileUse use;
    std::string_view what;
};
std::span<const FileOption> file_options();
/// As the reference has it: "input", "name or input", ..
std::string_view use_name(FileUse use);

/// A file, or "folder/", below the folder that an option names.
struct FolderFile {
    std::string_view command, option, name, what;
};
std::span<const FolderFile> folder_files();

/// Claims the inputs that the command line of a command names, then refuses outputs on them. `texts`: what is given for an option.
void claim_files(std::string_view command, const std::function<std::vector<std::string>(const std::string& option)>& texts);

}  // namespace dlasim
