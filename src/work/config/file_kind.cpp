#include "config/file_kind.h"

#include <algorithm>
#include <array>

namespace dlasim {
namespace {

struct MarkedKind {
    FileKind kind;
    const char *name, *taker;
    std::array<const char*, 4> marks;  // any of these keys makes it one
};

/// Whoever comes first has the say: a network has an input too, and a result everything.
constexpr std::array kMarkedKinds{
    MarkedKind{FileKind::Result, "a result", "dlasim compare takes it", {"schema"}},
    MarkedKind{FileKind::Sweep, "a sweep", "dlasim sweep takes it", {"axes", "base"}},
    MarkedKind{FileKind::Case, "a measured case", "dlasim replay takes it", {"program"}},
    MarkedKind{FileKind::Network, "a network", "dlasim net takes it", {"layers"}},
    MarkedKind{FileKind::Memory, "a memory", "--memory takes it", {"organisation", "kind"}},
    MarkedKind{FileKind::Hardware, "a machine", "--hw takes it", {"preset", "mac", "cbuf"}},
    MarkedKind{FileKind::Layer, "a layer", "dlasim run takes it", {"op", "input", "kernel", "blocks"}},
};

const MarkedKind* marked_kind(const Json& json)
{
    if (!json.is_object()) return nullptr;
    const auto found = std::find_if(kMarkedKinds.begin(), kMarkedKinds.end(), [&](const MarkedKind& kind) {
        return std::any_of(kind.marks.begin(), kind.marks.end(), [&](const char* mark) { return mark && json.contains(mark); });
    });
    return found == kMarkedKinds.end() ? nullptr : &*found;
}

}  // namespace

FileKind kind_of(const Json& json)
{
    const MarkedKind* kind = marked_kind(json);
    return kind ? kind->kind : FileKind::Unknown;
}

void expect_kind(const Json& json, const std::string& file, FileKind expected)
{
    const MarkedKind* kind = marked_kind(json);
    if (!kind || kind->kind == expected) return;
    const auto wanted =
        std::find_if(kMarkedKinds.begin(), kMarkedKinds.end(), [&](const MarkedKind& other) { return other.kind == expected; });
    throw ConfigError(at(file, ""), std::string("is ") + kind->name + ", expected " + wanted->name + ": " + kind->taker);
}

}  // namespace dlasim
