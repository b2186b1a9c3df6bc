#include "config/description.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/files/foreign/foreign_file.h"

namespace dlasim {
namespace {

constexpr std::uint64_t kMaxForeign = 1 << 20;  // bytes of another simulator's file

struct ForeignFormat {
    const char* ending;
    Json (*read)(const std::string& text, const std::string& file);
};
constexpr std::array kForeignFormats{
    ForeignFormat{".csv", scale_sim_network},
    ForeignFormat{".yaml", timeloop_layer},
    ForeignFormat{".yml", timeloop_layer},
};

const ForeignFormat* foreign_format(const std::string& path)
{
    const auto* format = std::ranges::find_if(kForeignFormats, [&](const ForeignFormat& f) { return path.ends_with(f.ending); });
    return format == kForeignFormats.end() ? nullptr : format;
}

}  // namespace

bool is_description(const std::string& path) { return path.ends_with(".json") || foreign_format(path) != nullptr; }

Json read_description(const std::string& path)
{
    const ForeignFormat* format = foreign_format(path);
    if (!format) return read_json_of_ours(path, Wanted::Work);
    Json json = format->read(read_text(path, kMaxForeign), path);
    json["name"] = std::filesystem::path(path).stem().string();
    return json;
}

}  // namespace dlasim
