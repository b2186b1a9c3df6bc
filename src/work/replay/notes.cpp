#include "replay/notes.h"

#include "base/files/json_text.h"

namespace dlasim::trace {
namespace {

constexpr std::string_view kMark = "dlasim ";

}  // namespace

std::optional<Note> note_of(std::string_view text, std::string_view comment, const Line& line)
{
    const std::size_t start = text.find(comment);
    if (start == std::string_view::npos) return std::nullopt;
    std::string_view said = trim(text.substr(start + comment.size()));
    if (!said.starts_with(kMark)) return std::nullopt;
    said = trim(said.substr(kMark.size()));
    if (said == "-") return Note{};
    const nlohmann::json entry = parse_json(std::string(said), line.file + ":" + std::to_string(line.number));
    const std::string name = entry.is_array() && entry.size() == 2 && entry[0].is_string() ? entry[0].get<std::string>() : "";
    if (name == "MARK") return Note{MarkT0{}};
    if (name == "WAIT_INTR" && entry[1].is_string()) return Note{WaitInterrupt{entry[1].get<std::string>()}};
    if (name == "WAIT_STATUS" && entry[1].is_number_unsigned() && entry[1].get<std::uint64_t>() - 1 < UINT32_MAX)
        return Note{WaitStatus{entry[1].get<std::uint32_t>()}};
    line.fail("found \"" + std::string(said.substr(0, 60)) + "\", expected MARK, WAIT_INTR, WAIT_STATUS or -");
}

}  // namespace dlasim::trace
