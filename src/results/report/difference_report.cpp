#include "report/difference_report.h"

#include <fmt/format.h>

#include "base/files/console.h"
#include "base/files/printable.h"
#include "config/npy.h"

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::array kFirstKeys{
    Key<Difference>{{"batch", "integer", "", "position of the first difference"}, value_of<&Difference::n>},
    Key<Difference>{{"channel", "integer", "", "its channel"}, value_of<&Difference::c>},
    Key<Difference>{{"row", "integer", "", "its row"}, value_of<&Difference::y>},
    Key<Difference>{{"column", "integer", "", "its column"}, value_of<&Difference::x>},
    Key<Difference>{{"found", "any", "", "what the machine wrote there"}, value_of<&Difference::found>},
    Key<Difference>{{"expected", "any", "", "the expected value"}, value_of<&Difference::expected>},
};

constexpr std::string_view kDiffers = "the output differs from it";
constexpr std::array kExpectedKeys{
    Key<Difference>{{"file", "text", "", "the tensor"}, value_of<&Difference::file>},
    Key<Difference>{{"equal", "flag", "", "the output is that tensor"}, value_of<&Difference::equal>},
    Key<Difference>{{"compared", "integer", "values", "all of them"}, value_of<&Difference::compared>},
    Key<Difference>{{"differing", "integer", "values", "of these"}, value_of<&Difference::differing>},
    Key<Difference>{{"tolerated", "integer", "values", "that differ, but less than the tolerance", "there are some"},
                    [](const Difference& d) -> OrderedJson { return d.tolerated == 0 ? kAbsent : OrderedJson(d.tolerated); }},
    Key<Difference>{{"kind", "text", "", "kind of the difference: rounding, shift, layout, bias, ..", "the kind is recognised"},
                    [](const Difference& d) -> OrderedJson { return d.kind.empty() ? kAbsent : OrderedJson(d.kind); }},
    Key<Difference>{{"by_channel", "list", "values", "that differ, of each channel", kDiffers},
                    [](const Difference& d) -> OrderedJson { return d.equal() ? kAbsent : OrderedJson(d.by_channel); }},
    Key<Difference>{{"first", "object", "", "the first difference", kDiffers},
                    [](const Difference& d) -> OrderedJson { return d.equal() ? kAbsent : written(kFirstKeys, d); }},
    Key<Difference>{{"largest_difference", "number or null", "", "null if it is not finite", kDiffers},
                    [](const Difference& d) -> OrderedJson { return d.equal() ? kAbsent : OrderedJson(d.largest); }},
};

constexpr std::array kDirectKeys{
    Key<Difference>{{"compared", "integer", "values", "all of them"}, value_of<&Difference::compared>},
    Key<Difference>{{"differing", "integer", "values", "of these"}, value_of<&Difference::differing>},
    Key<Difference>{{"largest_difference", "number or null", "", "0 if none differs, null if it is not finite"},
                    value_of<&Difference::largest>},
};

}  // namespace

OrderedJson expected_json(const Difference& difference) { return written(kExpectedKeys, difference); }

std::vector<PlacedKey> expected_keys() { return placed(kExpectedKeys, "", kFirstKeys, "first/"); }

std::string expected_line(const Difference* expected)
{
    if (!expected) return "";
    const std::string file = printable(expected->file);
    const std::string tolerated =
        expected->tolerated == 0 ? "" : fmt::format(", {} of them within the tolerance", grouped(expected->tolerated));
    if (expected->equal())
        return fmt::format("  expected     yes, all {} outputs equal {}{}\n", grouped(expected->compared), file, tolerated);
    return fmt::format(
        "  expected     NO: {} of {} outputs differ from {}, the largest by {}\n"
        "               the first at batch {} channel {} row {} column {}: found {}, expected {}\n{}",
        grouped(expected->differing), grouped(expected->compared), file, expected->largest, expected->n, expected->c, expected->y,
        expected->x, expected->found, expected->expected, expected->kind.empty() ? "" : "               " + expected->kind + "\n");
}

OrderedJson direct_json(const Difference& difference) { return written(kDirectKeys, difference); }

std::vector<PlacedKey> direct_keys() { return placed(kDirectKeys, ""); }

std::string direct_line(const Difference* direct)
{
    if (!direct) return "";
    if (direct->equal()) return fmt::format("  direct       all {} outputs equal the direct convolution\n", grouped(direct->compared));
    return fmt::format(
        "  direct       {} of {} outputs differ from the direct convolution, the largest by {}: Winograd rounds its transforms\n",
        grouped(direct->differing), grouped(direct->compared), direct->largest);
}

std::string difference_file(const Difference& difference, const std::vector<std::uint64_t>& shape)
{
    return npy_numbers("<f4", shape, difference.values.empty() ? std::vector<double>(difference.compared) : difference.values);
}

}  // namespace dlasim
