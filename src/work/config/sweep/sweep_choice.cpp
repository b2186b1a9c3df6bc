#include "config/sweep/sweep_choice.h"

#include <algorithm>
#include <optional>

#include "base/files/expression.h"
#include "base/files/printable.h"
#include "config/layer/layer_reader.h"

namespace dlasim {
namespace {

constexpr std::size_t kMaxExclusions = 10'000, kMaxChecks = 100'000'000, kMaxEvaluations = 4'000'000;

/// The value under a dotted path; null if there is none.
Json below(const Json& json, const std::string& path)
{
    const Json* place = &json;
    for (std::size_t start = 0; start <= path.size();) {
        const std::size_t dot = std::min(path.find('.', start), path.size());
        const std::string key = path.substr(start, dot - start);
        if (!place->is_object() || !place->contains(key)) return {};
        place = &(*place)[key];
        start = dot + 1;
    }
    return *place;
}

/// What the names of an expression mean at a point: an axis, a field of its hardware, a number or text of its layer.
class Meanings {
public:
    /// `values`: of the axes as far as they are known, discarded otherwise. `known`: may be empty.
    Meanings(const Sweep& sweep, const std::vector<Json>& values, KnownFigure known = {})
        : sweep_(sweep), values_(values), known_(std::move(known))
    {
    }

    ExpressionValue operator()(const std::string& name, const std::string& where)
    {
        for (std::size_t a = 0; a < sweep_.axes.size(); ++a)
            if (sweep_.axes[a].name == name) {
                if (values_[a].is_discarded())
                    throw ConfigError(where, "\"" + name + "\" depends on a later axis; move that axis before this one");
                return value_of(values_[a], name, where);
            }
        if (const HardwareField* field = find_hardware_field(name)) {
            Hardware& hw = hardware();
            return field->flag ? std::int64_t{*field->flag(hw)} : std::int64_t{*field->number(hw)};
        }
        if (is_layer_field(name))
            if (const Json value = below(layer(), name); !value.is_null()) return value_of(value, name, where);
        if (known_)
            if (const std::optional<double> figure = known_(sweep_, hardware(), name)) return *figure;
        std::vector<std::string> known;
        for (const SweepAxis& axis : sweep_.axes) known.push_back(axis.name);
        for (const HardwareField& field : hardware_fields()) known.push_back(field.path);
        throw ConfigError(
            where, "\"" + printable(name) + "\" is no axis, no field of the hardware and not written in the layer" + suggest(name, known));
    }

private:
    static ExpressionValue value_of(const Json& value, const std::string& name, const std::string& where)
    {
        if (value.is_boolean()) return std::int64_t{value.get<bool>()};
        if (value.is_string()) return value.get<std::string>();
        if (value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX}))
            return value.get<std::int64_t>();
        throw ConfigError(where, "\"" + name + "\": " + found(value) + ", expected a whole number, a text or true and false");
    }
    /// As it would be, whether it can be or not.
    Hardware& hardware() { return hardware_ ? *hardware_ : hardware_.emplace(swept_hardware(sweep_, values_, HardwareRules::Ignored)); }
    /// What has fields, or null.
    const Json& layer()
    {
        static const Json kNone;
        if (!sweep_.kind().fields) return kNone;
        const Json& work = swept(sweep_, values_, SweepAxis::Kind::Work, sweep_.work);
        return work.is_string() ? sweep_.files->json(resolve(sweep_, work.get<std::string>())) : work;
    }

    const Sweep& sweep_;
    const std::vector<Json>& values_;
    KnownFigure known_;
    std::optional<Hardware> hardware_;
};

/// Part of an exclusion: an axis and its matching values. A point is skipped if all parts match.
using Places = std::vector<std::pair<std::size_t, std::vector<bool>>>;

struct Exclusions {
    std::vector<Places> places;
    std::vector<std::pair<std::string, std::string>> expressions;  // text, and its place in the file
};

Places places_of(const Sweep& sweep, const Json& rule)
{
    Places lines;
    for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
        const SweepAxis& axis = sweep.axes[a];
        if (!rule.contains(axis.name)) continue;
        std::vector<bool> meant;
        for (const Json& value : axis.values) meant.push_back(value == rule[axis.name]);
        lines.emplace_back(a, std::move(meant));
    }
    return lines;
}

Exclusions read_exclusions(const Sweep& sweep, const Json& exclude)
{
    const std::string where = at(sweep.file, "/exclude");
    if (!exclude.is_array()) throw ConfigError(where, found(exclude) + ", expected a list of objects and expressions");
    if (exclude.size() > kMaxExclusions)
        throw ConfigError(where, "has more than " + std::to_string(kMaxExclusions) + " lines, expected fewer");
    std::vector<std::string> names;
    std::size_t values = 0;
    for (const SweepAxis& axis : sweep.axes) {
        names.push_back(axis.name);
        values += axis.places();
    }
    if (values * exclude.size() > kMaxChecks) throw ConfigError(where, "is too long for these axes, expected fewer lines");
    Exclusions exclusions;
    for (std::size_t i = 0; i < exclude.size(); ++i) {
        const std::string pointer = "/exclude/" + std::to_string(i);
        if (exclude[i].is_string()) {
            exclusions.expressions.emplace_back(exclude[i].get<std::string>(), at(sweep.file, pointer));
            continue;
        }
        const JsonObject rule(exclude[i], sweep.file, pointer, names);
        if (exclude[i].empty()) throw ConfigError(at(sweep.file, pointer), "excludes everything, expected an axis and a value");
        const bool derived = std::any_of(sweep.axes.begin(), sweep.axes.end(),
                                         [&](const SweepAxis& axis) { return axis.follows() && exclude[i].contains(axis.name); });
        if (derived)
            throw ConfigError(at(sweep.file, pointer),
                              "names a derived axis, expected an expression, for example \"" + std::string("cbuf.banks > 8") + "\"");
        exclusions.places.push_back(places_of(sweep, exclude[i]));
    }
    return exclusions;
}

bool excluded(const Sweep& sweep, const Exclusions& exclusions, const std::vector<std::size_t>& place, const KnownFigure& known)
{
    for (const Places& lines : exclusions.places)
        if (std::all_of(lines.begin(), lines.end(), [&](const auto& line) { return line.second[place[line.first]]; })) return true;
    if (exclusions.expressions.empty()) return false;
    const std::vector<Json> values = point_values(sweep, place);
    Meanings meanings(sweep, values, known);
    for (const auto& line : exclusions.expressions) {
        const std::string &text = line.first, &where = line.second;
        const ExpressionValue value = expression(text, where, [&](const std::string& name) { return meanings(name, where); });
        if (const std::int64_t* holds = std::get_if<std::int64_t>(&value); !holds)
            throw ConfigError(where, "\"" + printable(text) + "\" is not a condition, expected a comparison such as cbuf.banks > 8");
        else if (*holds != 0) return true;
    }
    return false;
}

/// The next place in the order of the axes; false after the last one.
bool next_place(const Sweep& sweep, std::vector<std::size_t>& place)
{
    for (std::size_t a = place.size(); a-- > 0;) {
        if (++place[a] < sweep.axes[a].places()) return true;
        place[a] = 0;
    }
    return false;
}

}  // namespace

std::vector<Json> point_values(const Sweep& sweep, const std::vector<std::size_t>& place)
{
    std::vector<Json> values(sweep.axes.size(), Json(Json::value_t::discarded));
    std::vector<std::string> derived(sweep.axes.size());
    for (std::size_t a = 0; a < place.size(); ++a) {
        const Json& value = sweep.axes[a].values[place[a]];
        derived[a] = expression_of(value);
        if (derived[a].empty()) values[a] = value;
    }
    for (std::size_t a = 0; a < place.size(); ++a) {
        if (derived[a].empty()) continue;
        const std::string where = at(sweep.file, "/axes/" + sweep.axes[a].name);
        Meanings meanings(sweep, values);  // of this moment: values derived later are not known
        const ExpressionValue value = expression(derived[a], where, [&](const std::string& name) { return meanings(name, where); });
        std::visit([&](const auto& known) { values[a] = known; }, value);
    }
    return values;
}

void choose_points(Sweep& sweep, const Json& exclude, const KnownFigure& known)
{
    const Exclusions exclusions = read_exclusions(sweep, exclude);
    std::size_t all = 1;
    for (const SweepAxis& axis : sweep.axes) all *= axis.places();
    if (all * exclusions.places.size() > kMaxChecks || all * exclusions.expressions.size() > kMaxEvaluations)
        throw ConfigError(at(sweep.file, "/exclude"), std::to_string(exclude.size()) + " lines for " + std::to_string(all) +
                                                          " points are too many to compare, expected fewer");
    std::vector<std::size_t> place(sweep.axes.size());
    for (std::size_t a = 0; a < place.size(); ++a)  // a name that is not known is refused now
        for (std::size_t i = 0; i < sweep.axes[a].values.size(); ++i) {
            if (expression_of(sweep.axes[a].values[i]).empty()) continue;
            std::vector<std::size_t> first(sweep.axes.size());
            first[a] = i;
            point_values(sweep, first);
        }
    do {
        if (!excluded(sweep, exclusions, place, known)) sweep.points.push_back(place);
    } while (next_place(sweep, place));
}

}  // namespace dlasim
