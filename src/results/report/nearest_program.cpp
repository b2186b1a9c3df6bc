#include "report/nearest_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "base/files/printable.h"
#include "config/machine/measured.h"
#include "report/embedded.h"

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;
using loadable::Cube, loadable::Kind, loadable::RecoveredOperation;

constexpr std::string_view kBetween = " + ";  // two units

const char* precision_word(unsigned precision)
{
    constexpr std::array kNames{"int8", "int16", "fp16", "other"};
    return kNames[precision & 3];
}

void add_conv(UnitUse& use, const loadable::ConvOperation& o)
{
    const auto mode = [&](bool on, const char* name) {
        if (on) use.modes.emplace_back(name);
    };
    use.modes.emplace_back(o.mode != 0 ? "Winograd" : "direct");
    use.modes.emplace_back(precision_word(o.precision));
    mode(!o.feature(), "pixels");
    mode(o.batch > 1, "batch");
    mode(o.dilation_x > 1 || o.dilation_y > 1, "dilated");
    mode(o.weight_format != 0, "compressed");
    mode(o.data_reuse != 0, "data-kept");
    mode(o.weight_reuse != 0, "weights-kept");
    use.sizes.insert(use.sizes.end(), {o.kernel_width, o.kernel_height, o.stride_x, o.stride_y, o.batch});
}

void add_sdp(UnitUse& use, const loadable::SdpOperation& o)
{
    use.modes.emplace_back(precision_word(o.precision));
    if (!o.source.on_the_fly()) use.modes.emplace_back("from-memory");
    constexpr std::array kStages{"BS", "BN", "EW"};
    for (std::size_t i = 0; i < o.stages.size(); ++i) {
        const loadable::SdpStage& stage = o.stages[i];
        if (stage.reads()) use.modes.push_back(fmt::format("{}-by-{}", kStages[i], stage.mode == 1 ? "kernel" : "element"));
        if (stage.enable != 0 && stage.activation == 2) use.modes.emplace_back("table");
    }
}

void add_pdp(UnitUse& use, const loadable::PdpOperation& o)
{
    constexpr std::array kMethods{"average", "maximum", "minimum", "other"};
    use.modes.emplace_back(kMethods[o.method & 3]);
    use.modes.emplace_back(precision_word(o.precision));
    if (o.splits > 1) use.modes.emplace_back("in-columns");
    use.sizes.insert(use.sizes.end(), {o.kernel_width + 1U, o.kernel_height + 1U, o.stride_x, o.stride_y});
}

UnitUse unit_use(const RecoveredOperation& recovered)
{
    constexpr std::array kRubik{"contract", "split", "merge", "other"};
    const loadable::Operation& o = recovered.operation;
    UnitUse use{o.name(), {}, {}};
    if (o.kind != Kind::Bdma)
        for (const Cube* cube : {o.source(), o.destination()})
            use.sizes.insert(use.sizes.end(), {cube->width, cube->height, cube->channels});
    switch (o.kind) {
        case Kind::Conv:
            add_conv(use, o.conv);
            break;
        case Kind::Sdp:
            add_sdp(use, o.sdp);
            break;
        case Kind::Pdp:
            add_pdp(use, o.pdp);
            break;
        case Kind::Cdp:
            use.modes.emplace_back(precision_word(o.cdp.input_precision));
            use.sizes.push_back(o.cdp.window);
            break;
        case Kind::Rubik:
            use.modes.emplace_back(kRubik[o.rubik.mode & 3]);
            use.modes.emplace_back(precision_word(o.rubik.precision));
            use.sizes.insert(use.sizes.end(), {o.rubik.stride_x, o.rubik.stride_y});
            break;
        case Kind::Bdma:
            if (const auto& list = o.bdma.transfers; !list.empty())
                use.sizes = {list[0].line_bytes, list[0].lines, list[0].surfaces, static_cast<std::uint32_t>(list.size())};
            break;
    }
    if (std::ranges::any_of(recovered.places, [](const auto& place) { return place && !place->primary; })) use.modes.emplace_back("CVSRAM");
    return use;
}

/// The largest of two sizes of the same unit.
double ratio_of(const OperationUse& a, const OperationUse& b)
{
    double most = 1;
    for (const UnitUse& unit : a) {
        const auto same = std::ranges::find(b, unit.unit, &UnitUse::unit);
        if (same == b.end()) continue;
        for (std::size_t i = 0; i < std::min(unit.sizes.size(), same->sizes.size()); ++i) {
            const double x = std::max(1U, unit.sizes[i]), y = std::max(1U, same->sizes[i]);
            most = std::max(most, std::max(x / y, y / x));
        }
    }
    return most;
}

std::vector<std::string_view> pieces(std::string_view text, std::string_view between)
{
    std::vector<std::string_view> list;
    for (std::size_t at = 0; !text.empty(); text.remove_prefix(std::min(at + between.size(), text.size()))) {
        at = std::min(text.find(between), text.size());
        list.push_back(text.substr(0, at));
    }
    return list;
}

using Words = std::set<std::string, std::less<>>;

/// Units, and their modes: of "CONV direct + SDP" CONV, "CONV direct" and SDP.
Words words_of(std::string_view modes)
{
    Words words;
    for (const std::string_view text : pieces(modes, kBetween)) {
        const std::vector<std::string_view> unit = pieces(text, " ");
        words.emplace(unit.front());
        for (std::size_t i = 1; i < unit.size(); ++i) words.insert(fmt::format("{} {}", unit.front(), unit[i]));
    }
    return words;
}

/// How many words only one of the two has. If more than `most` have to be, a number above it.
std::size_t modes_apart(const Words& left, const Words& right, std::size_t most)
{
    const auto [fewer, more] = std::minmax({left.size(), right.size()});
    if (more - fewer > most) return more - fewer;
    const auto both = std::ranges::count_if(left, [&](const std::string& word) { return right.contains(word); });
    return left.size() + right.size() - 2 * static_cast<std::size_t>(both);
}

/// The measured operations of equal modes.
struct MeasuredModes {
    Words words;
    std::vector<const MeasuredOperation*> rows;
};

const std::vector<MeasuredModes>& measured_modes()
{
    static const std::vector<MeasuredModes> kModes = [] {
        std::map<std::string_view, MeasuredModes> by_modes;
        for (const MeasuredOperation& row : measured_operations()) by_modes[row.modes].rows.push_back(&row);
        std::vector<MeasuredModes> list;
        for (auto& [modes, known] : by_modes) {
            known.words = words_of(modes);
            list.push_back(std::move(known));
        }
        return list;
    }();
    return kModes;
}

std::uint32_t number_of(std::string_view text)
{
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) throw InternalError("measured_programs.csv: found no number");
    return value;
}

MeasuredOperation row_of(std::string_view line)
{
    std::array<std::string_view, 6> cells;
    for (std::string_view& cell : cells) {
        const std::size_t end = std::min(line.find(';'), line.size());
        cell = line.substr(0, end);
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    if (cells.back().empty() || !line.empty()) throw InternalError("measured_programs.csv: found another number of columns");
    return {cells[0], cells[1], number_of(cells[2]), number_of(cells[3]), cells[4], cells[5]};
}

/// Operations of one kind in a run.
struct KindOfOperation {
    std::map<std::string, OperationUse> sizes;  // each once
    std::size_t operations = 0;
};

NearestProgram nearest_to(const std::string& modes, const KindOfOperation& kind, const std::map<std::string, double, std::less<>>& machines)
{
    const Words words = words_of(modes);
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    double closest = 0;
    std::vector<const MeasuredOperation*> candidates;
    for (const MeasuredModes& known : measured_modes()) {
        const std::size_t apart = modes_apart(words, known.words, fewest);
        if (apart > fewest) continue;
        for (const MeasuredOperation* row : known.rows) {
            const std::pair distance{apart, machines.find(row->machine)->second}, least{fewest, closest};
            if (distance > least) continue;
            if (distance < least) candidates.clear();
            std::tie(fewest, closest) = distance;
            candidates.push_back(row);
        }
    }
    std::ranges::sort(candidates);  // in the order of the table
    std::vector<OperationUse> uses;
    uses.reserve(candidates.size());
    for (const MeasuredOperation* row : candidates) uses.push_back(row->use());
    NearestProgram farthest{modes, kind.operations, nullptr, closest == 0, 0};
    for (const auto& [text, use] : kind.sizes) {
        const MeasuredOperation* nearest = nullptr;
        double ratio = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < uses.size(); ++i)
            if (const double of_row = ratio_of(use, uses[i]); of_row < ratio) std::tie(nearest, ratio) = std::pair(candidates[i], of_row);
        if (ratio > farthest.size_ratio) std::tie(farthest.measured, farthest.size_ratio) = std::pair(nearest, ratio);
    }
    return farthest;
}

constexpr std::array kNearestKeys{
    Key<NearestProgram>{{"modes", "text", "", "units of the operation, the producer first, with their modes"},
                        value_of<&NearestProgram::modes>},
    Key<NearestProgram>{{"operations", "integer", "operations", "operations of these modes"}, value_of<&NearestProgram::operations>},
    Key<NearestProgram>{{"program", "text", "", "the measured program that is nearest to the farthest of them"},
                        [](const NearestProgram& n) -> OrderedJson { return n.measured->program; }},
    Key<NearestProgram>{{"machine", "text", "", "the machine it was measured on"},
                        [](const NearestProgram& n) -> OrderedJson { return n.measured->machine; }},
    Key<NearestProgram>{{"same_machine", "flag", "", "it is that of the run, but for clock and sizes of memories"},
                        value_of<&NearestProgram::same_machine>},
    Key<NearestProgram>{{"other_modes", "text", "", "modes of the measured operation", "these modes were not measured together"},
                        [](const NearestProgram& n) -> OrderedJson { return n.same_modes() ? kAbsent : OrderedJson(n.measured->modes); }},
    Key<NearestProgram>{{"size_ratio", "number", "", "largest ratio of a size (input, output, kernel, stride) of both; 1: the same sizes"},
                        value_of<&NearestProgram::size_ratio>},
    Key<NearestProgram>{{"events", "integer", "events", "of the measured program that were compared with the RTL"},
                        [](const NearestProgram& n) -> OrderedJson { return n.measured->events; }},
    Key<NearestProgram>{{"differing", "integer", "", "signals of it that differ from the RTL"},
                        [](const NearestProgram& n) -> OrderedJson { return n.measured->differing; }},
};

}  // namespace

OperationUse use_of(const loadable::ProgramOperation& operation)
{
    OperationUse use;
    for (const RecoveredOperation& part : operation.chain) use.push_back(unit_use(part));
    return use;
}

std::string modes_text(const OperationUse& use)
{
    std::string text;
    for (const UnitUse& unit : use) {
        text += fmt::format("{}{}", text.empty() ? "" : kBetween, unit.unit);
        for (const std::string& mode : unit.modes) text += " " + mode;
    }
    return text;
}

std::string sizes_text(const OperationUse& use)
{
    std::string text;
    for (const UnitUse& unit : use) text += fmt::format("{}{}", text.empty() ? "" : kBetween, fmt::join(unit.sizes, " "));
    return text;
}

OperationUse MeasuredOperation::use() const
{
    const std::vector<std::string_view> units = pieces(modes, kBetween), of_units = pieces(sizes, kBetween);
    if (units.size() != of_units.size()) throw InternalError("measured_programs.csv: found modes and sizes of different units");
    OperationUse use;
    for (std::size_t i = 0; i < units.size(); ++i) {
        UnitUse unit;
        for (const std::string_view word : pieces(units[i], " ")) {
            if (unit.unit.empty()) unit.unit = word;
            else unit.modes.emplace_back(word);
        }
        for (const std::string_view size : pieces(of_units[i], " ")) unit.sizes.push_back(number_of(size));
        use.push_back(std::move(unit));
    }
    return use;
}

const std::vector<MeasuredOperation>& measured_operations()
{
    static const std::vector<MeasuredOperation> kRows = [] {
        std::vector<MeasuredOperation> rows;
        for (const std::string_view line : pieces(embedded(measured_program_files(), "measured_programs.csv"), "\n"))
            rows.push_back(row_of(line));
        return rows;
    }();
    return kRows;
}

void read_measured_programs() { measured_modes(); }

std::vector<NearestProgram> nearest_programs(const Program& program, const Hardware& hardware)
{
    std::map<std::string, KindOfOperation> kinds;
    for (const loadable::ProgramOperation& operation : loadable::program_operations(program, hardware)) {
        if (operation.chain.empty()) continue;
        const OperationUse use = use_of(operation);
        KindOfOperation& kind = kinds[modes_text(use)];
        ++kind.operations;
        kind.sizes.try_emplace(sizes_text(use), use);
    }
    std::map<std::string, double, std::less<>> machines;
    for (const MeasuredMachine& machine : measured_machines()) machines[machine.name] = distance_of(machine.hardware, hardware);
    std::vector<NearestProgram> list;
    list.reserve(kinds.size());
    for (const auto& [modes, kind] : kinds) list.push_back(nearest_to(modes, kind, machines));
    std::ranges::stable_sort(list, [](const NearestProgram& a, const NearestProgram& b) {
        return std::tuple(!a.same_modes(), !a.same_machine, a.size_ratio) > std::tuple(!b.same_modes(), !b.same_machine, b.size_ratio);
    });
    return list;
}

OrderedJson nearest_json(const Program& program, const Hardware& hardware)
{
    OrderedJson list = written_list(kNearestKeys, nearest_programs(program, hardware));
    return list.empty() ? kAbsent : list;
}

std::vector<PlacedKey> nearest_keys() { return placed(kNearestKeys, "nearest/[]/"); }

std::string nearest_line(const Program& program, const Hardware& hardware)
{
    const std::vector<NearestProgram> list = nearest_programs(program, hardware);
    if (list.empty()) return "";
    const NearestProgram& n = list.front();
    const std::string equal = n.measured->differing == 0 ? fmt::format("all {} events equal the RTL", grouped(n.measured->events))
                                                         : fmt::format("{} signals differ from the RTL", grouped(n.measured->differing));
    return fmt::format("  nearest      {} on {}{}{}: sizes within {:.3g} x, {}\n", n.measured->program, n.measured->machine,
                       n.same_modes() ? "" : " with other modes",
                       list.size() == 1 ? "" : fmt::format(", for {}, the farthest of {} kinds of operation", n.modes, list.size()),
                       n.size_ratio, equal);
}

}  // namespace dlasim
