// Names of files in the folder of a run.
#pragma once
#include <cctype>
#include <set>
#include <string>

namespace dlasim {

/// The table of a run, in the folder of its result.
inline constexpr const char* kReportFile = "report.txt";
inline constexpr const char* kPageFile = "run.html";

/// Names of tensors as those of files of one folder, none twice: a_b.npy, a_b.2.npy, ..
class FileNames {
public:
    std::string of(const std::string& tensor)
    {
        std::string name;
        for (const char c : tensor.substr(0, kMaxLength)) name += letter(static_cast<unsigned char>(c)) ? c : '_';
        std::string file = name + ".npy";
        for (int n = 2; !taken_.insert(file).second; ++n) file = name + "." + std::to_string(n) + ".npy";
        return file;
    }

private:
    static constexpr std::size_t kMaxLength = 100;
    static bool letter(unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; }
    std::set<std::string> taken_;
};

}  // namespace dlasim
