#include "sweep/store.h"

#include "base/error.h"
#include "base/expects.h"
#include "files/number.h"

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// SQLite's types: whole numbers, floating point, text; flags are 0 and 1.
void bind_json(Statement& statement, int place, const OrderedJson& value)
{
    if (value.is_null()) statement.bind_nothing(place);
    else if (value.is_boolean()) statement.bind(place, std::int64_t{value.get<bool>()});
    else if (value.is_number_integer()) statement.bind(place, value.get<std::int64_t>());
    else if (value.is_number()) statement.bind(place, value.get<double>());
    else if (value.is_string()) statement.bind(place, std::string_view(value.get_ref<const std::string&>()));
    else statement.bind(place, std::string_view(value.dump()));
}

}  // namespace

std::string difference_text(const SweepIdentity& a, const SweepIdentity& b)
{
    std::string text;
    const auto add = [&](bool differs, const char* what) {
        if (differs) text += (text.empty() ? "" : ", ") + std::string(what);
    };
    add(a.sweep != b.sweep, "its sweep file or a file that it names");
    add(a.binary != b.binary, "the dlasim that made them");
    add(a.options != b.options, "its options");
    return text;
}

std::int64_t SweepStore::tables(const std::string& which)
{
    Statement tables(database_, "SELECT count(*) FROM sqlite_master" + which);
    tables.step();
    const std::int64_t found = tables.integer(0);
    tables.step();
    return found;
}

bool SweepStore::begun() { return tables(" WHERE name IN ('identity', 'kept') AND type = 'table'") == 2; }

bool SweepStore::foreign() { return !begun() && tables("") != 0; }

void SweepStore::begin(const SweepIdentity& identity, std::size_t points, const SweepShard& shard)
{
    database_.transaction([&] {
        database_.run(
            "CREATE TABLE identity (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
            "CREATE TABLE kept (point INTEGER PRIMARY KEY, status INTEGER NOT NULL, row TEXT NOT NULL)");
        Statement insert(database_, "INSERT INTO identity VALUES (?, ?)");
        const std::pair<const char*, std::string> lines[] = {
            {"sweep", identity.sweep},          {"binary", identity.binary}, {"options", identity.options},
            {"points", std::to_string(points)}, {"shard", shard.text()},     {"own_points", std::to_string(shard.count(points))}};
        for (const auto& [key, text] : lines) insert.bind(1, std::string_view(key)).bind(2, std::string_view(text)).step();
    });
}

std::string SweepStore::value(const std::string& key)
{
    Statement select(database_, "SELECT value FROM identity WHERE key = ?");
    if (!select.bind(1, std::string_view(key)).step())
        throw ConfigError(database_.file().string(), "has no \"" + key + "\", expected the table of a sweep");
    return select.text(0);
}

SweepIdentity SweepStore::identity() { return {value("sweep"), value("binary"), value("options")}; }

std::size_t SweepStore::number(const std::string& key)
{
    const auto number = whole_number(value(key));
    if (!number) throw ConfigError(database_.file().string(), "is damaged: \"" + key + "\" is no number");
    return *number;
}

void SweepStore::end() { database_.run("INSERT OR REPLACE INTO identity VALUES ('ended', 'yes')"); }

bool SweepStore::ended()
{
    Statement select(database_, "SELECT value FROM identity WHERE key = 'ended'");
    const bool there = select.step();
    return there || kept() == own_points();
}

std::size_t SweepStore::kept()
{
    Statement count(database_, "SELECT count(*) FROM kept");
    count.step();
    const std::int64_t rows = count.integer(0);
    count.step();
    return static_cast<std::size_t>(rows);
}

void SweepStore::keep(const std::vector<KeptPoint>& rows)
{
    database_.transaction([&] {
        Statement insert(database_, "INSERT OR REPLACE INTO kept VALUES (?, ?, ?)");
        for (const KeptPoint& kept : rows) {
            const std::string row = kept.row.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
            insert.bind(1, static_cast<std::int64_t>(kept.point)).bind(2, std::int64_t{kept.status}).bind(3, std::string_view(row)).step();
        }
    });
}

std::size_t SweepStore::point_of(const Statement& row, std::size_t points) const
{
    const std::int64_t point = row.integer(0);
    if (point < 0 || static_cast<std::size_t>(point) >= points)
        throw ConfigError(database_.file().string(), "is damaged: has point " + std::to_string(point) + " of " + std::to_string(points));
    return static_cast<std::size_t>(point);
}

void SweepStore::each(const std::function<void(KeptPoint&&)>& use)
{
    const std::size_t all = points();
    Statement select(database_, "SELECT point, status, row FROM kept ORDER BY point");
    while (select.step()) {
        OrderedJson row = OrderedJson::parse(select.text(2), nullptr, false);
        if (!row.is_object()) throw ConfigError(database_.file().string(), "is damaged: a row is no JSON");
        use({point_of(select, all), static_cast<int>(select.integer(1)), std::move(row)});
    }
}

std::vector<std::pair<std::size_t, int>> SweepStore::statuses()
{
    std::vector<std::pair<std::size_t, int>> list;
    const std::size_t all = points();
    Statement select(database_, "SELECT point, status FROM kept ORDER BY point");
    while (select.step()) list.emplace_back(point_of(select, all), static_cast<int>(select.integer(1)));
    return list;
}

void SweepStore::write_table(const std::vector<std::string>& columns, const std::function<void(KeptPoint&)>& complete,
                             const std::function<void(const KeptPoint&)>& use)
{
    database_.transaction([&] {
        std::string names, places;
        for (const std::string& column : columns) {
            names += (names.empty() ? "" : ", ") + quoted_name(column);
            places += places.empty() ? "?" : ", ?";
        }
        database_.run("DROP TABLE IF EXISTS points; CREATE TABLE points (" + names + ")");
        Statement insert(database_, "INSERT INTO points VALUES (" + places + ")");
        each([&](KeptPoint&& kept) {
            complete(kept);
            for (std::size_t c = 0; c < columns.size(); ++c)
                bind_json(insert, static_cast<int>(c) + 1, kept.row.contains(columns[c]) ? kept.row[columns[c]] : OrderedJson());
            insert.step();
            use(kept);
        });
    });
}

}  // namespace dlasim
