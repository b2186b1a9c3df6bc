// What a unit counts, declared once beside it: a member of a struct, and a row with its name, its unit and a sentence. Reports,
// result.json and the reference page take names from the rows, so that nothing can be reported that is not declared; a member without
// a row does not compile.
//
//   struct PdpCounters { layers, .. }   ◄──── the core counts here
//   counters<PdpCounters> = rows ───────────► UnitReport ──► result.json, the table
//                              └────────────► the reference page
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dlasim {

enum class CounterKind : std::uint8_t {
    Count,    // of what happened in the window
    Extreme,  // least or greatest value since reset: no difference of two
    Clock,    // cycles in which the clock of a domain ran
};

/// Description of a counter.
struct CounterRow {
    CounterKind kind;
    std::string_view name;     // "#" in it means a number
    std::string_view unit;     // cycles, atoms, commands
    std::string_view meaning;  // what exactly is counted
    std::string_view source;   // page and section of docs/hardware
    std::string_view when;     // where it is reported; everywhere if empty
};

/// A number; one that is not always there; one for each of many, from 0 on.
template <class Counters>
using CounterPlace =
    std::variant<std::uint64_t Counters::*, std::optional<std::uint64_t> Counters::*, std::vector<std::uint64_t> Counters::*>;

template <class Counters>
struct Counter {
    CounterRow row;
    CounterPlace<Counters> place;
};

template <class Counters, class Member>
constexpr Counter<Counters> counter(std::string_view name, Member Counters::*place, std::string_view unit, std::string_view meaning,
                                    std::string_view source, std::string_view when = "")
{
    return {{CounterKind::Count, name, unit, meaning, source, when}, place};
}

template <class Counters, class Member>
constexpr Counter<Counters> extreme(std::string_view name, Member Counters::*place, std::string_view unit, std::string_view meaning,
                                    std::string_view source)
{
    return {{CounterKind::Extreme, name, unit, meaning, source, ""}, place};
}

template <class Counters, class Member>
constexpr Counter<Counters> clock_domain(std::string_view name, Member Counters::*place, std::string_view meaning, std::string_view source,
                                         std::string_view when = "")
{
    return {{CounterKind::Clock, name, "cycles", meaning, source, when}, place};
}

/// The rows of a struct of counters, in the order of the report.
template <class Counters>
inline constexpr std::array<Counter<Counters>, 0> counters{};

/// Every member has one row.
template <class Counters>
constexpr bool each_member_has_a_row()
{
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < counters<Counters>.size(); ++i) {
        const CounterPlace<Counters>& place = counters<Counters>[i].place;
        for (std::size_t j = 0; j < i; ++j)
            if (place == counters<Counters>[j].place) return false;
        constexpr std::size_t sizes[]{sizeof(std::uint64_t), sizeof(std::optional<std::uint64_t>), sizeof(std::vector<std::uint64_t>)};
        bytes += sizes[place.index()];
    }
    return bytes == sizeof(Counters);
}

/// Names and values of a report. They come from a struct of declared counters and nowhere else.
class CounterValues {
public:
    using value_type = std::pair<std::string, std::uint64_t>;
    using const_iterator = std::vector<value_type>::const_iterator;

    CounterValues() = default;
    /// The clock domains among the counters, or all others.
    template <class Counters>
    CounterValues(const Counters& values, bool clocks)
    {
        static_assert(each_member_has_a_row<Counters>());
        for (const Counter<Counters>& counter : counters<Counters>) {
            if ((counter.row.kind == CounterKind::Clock) != clocks) continue;
            std::visit([&](auto place) { add(counter.row, values.*place); }, counter.place);
        }
    }

    const_iterator begin() const { return values_.begin(); }
    const_iterator end() const { return values_.end(); }
    bool empty() const { return values_.empty(); }
    std::size_t size() const { return values_.size(); }
    const std::vector<value_type>& all() const { return values_; }
    bool operator==(const CounterValues& other) const { return values_ == other.values_; }

    /// What was counted after `before` was taken; extremes stay.
    CounterValues since(const CounterValues& before) const
    {
        CounterValues left = *this;
        for (std::size_t i = 0; i < left.values_.size(); ++i) {
            auto& [name, value] = left.values_[i];
            if (left.extreme_[i]) continue;
            if (i < before.values_.size() && before.values_[i].first == name) {  // nearly always
                value -= before.values_[i].second;
                continue;
            }
            for (const auto& [other, was] : before.values_)
                if (other == name) value -= was;
        }
        return left;
    }

private:
    void add(const CounterRow& row, std::uint64_t value)
    {
        values_.emplace_back(row.name, value);
        extreme_.push_back(row.kind == CounterKind::Extreme);
    }
    void add(const CounterRow& row, const std::optional<std::uint64_t>& value)
    {
        if (value) add(row, *value);
    }
    void add(const CounterRow& row, const std::vector<std::uint64_t>& values)
    {
        const std::size_t place = row.name.find('#');
        for (std::size_t i = 0; i < values.size(); ++i) {
            add(row, values[i]);
            values_.back().first.replace(place, 1, std::to_string(i));
        }
    }

    std::vector<value_type> values_;
    std::vector<bool> extreme_;
};

}  // namespace dlasim
