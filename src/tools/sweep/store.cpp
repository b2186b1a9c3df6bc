#include "sweep/store.h"

#include <initializer_list>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/number.h"

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;

// As SQLite keeps them.
constexpr const char* kIdentity = "CREATE TABLE identity (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL)";
constexpr const char* kKept =
    "CREATE TABLE kept (point INTEGER PRIMARY KEY, status INTEGER NOT NULL, row TEXT NOT NULL, checksum TEXT NOT NULL)";

std::string checksum(std::initializer_list<std::string_view> texts)
{
    Digest digest;
    for (const std::string_view text : texts) digest.add(text);
    return digest.text();
}

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

void SweepStore::damaged(const std::string& what) const
{
    throw ConfigError(database_.file().string(),
                      "is damaged: " + what + ", expected the table of a sweep: --restart starts over, or another folder (--out)");
}

bool SweepStore::begun()
{
    Statement select(database_, "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'");
    std::map<std::string, std::string> tables;
    while (select.step()) tables[select.text(0)] = select.text(1);
    if (tables.empty()) return false;
    tables.erase("points");  // generated from the others
    if (tables != std::map<std::string, std::string>{{"identity", kIdentity}, {"kept", kKept}})
        throw ConfigError(database_.file().string(),
                          "is damaged, or is no table of a sweep of this dlasim, expected another folder (--out)");
    Statement check(database_, "PRAGMA quick_check(1)");
    check.step();
    if (const std::string found = check.text(0); found != "ok") damaged(found);
    check.step();
    return true;
}

void SweepStore::begin(const SweepIdentity& identity, std::size_t points, const SweepShard& shard)
{
    database_.transaction([&] {
        database_.run(kIdentity);
        database_.run(kKept);
        const std::pair<const char*, std::string> lines[] = {
            {"sweep", identity.sweep},     {"binary", identity.binary},
            {"options", identity.options}, {"file", identity.file},
            {"require", identity.require}, {"points", std::to_string(points)},
            {"shard", shard.text()},       {"own_points", std::to_string(shard.count(points))}};
        for (const auto& [key, text] : lines) set_value(key, text);
    });
}

void SweepStore::set_value(const std::string& key, const std::string& value)
{
    Statement insert(database_, "INSERT OR REPLACE INTO identity VALUES (?, ?, ?)");
    insert.bind(1, std::string_view(key)).bind(2, std::string_view(value)).bind(3, std::string_view(checksum({key, value}))).step();
}

std::string SweepStore::value(const std::string& key)
{
    Statement select(database_, "SELECT value, checksum FROM identity WHERE key = ?");
    if (!select.bind(1, std::string_view(key)).step()) damaged("it has no \"" + key + "\"");
    if (select.text(1) != checksum({key, select.text(0)})) damaged("\"" + key + "\" is not what was written");
    return select.text(0);
}

std::string SweepStore::value_or_none(const std::string& key)
{
    Statement select(database_, "SELECT value FROM identity WHERE key = ?");
    return select.bind(1, std::string_view(key)).step() ? value(key) : "";
}

SweepIdentity SweepStore::identity()
{
    return {value("sweep"), value("binary"), value("options"), value("file"), value_or_none("require")};
}

void SweepStore::judge_anew(const std::string& require)
{
    std::vector<std::size_t> points;
    each([&](const KeptPoint& kept) {
        const std::string reason = kept.row.value("reason", "");
        if (reason.starts_with(kCannotMeet) || reason.starts_with(kCannotWin)) points.push_back(kept.point);
    });
    database_.transaction([&] {
        for (const std::size_t point : points) {
            Statement remove(database_, "DELETE FROM kept WHERE point = ?");
            remove.bind(1, static_cast<std::int64_t>(point)).step();
        }
        set_value("require", require);
    });
}

std::size_t SweepStore::number(const std::string& key)
{
    const auto number = whole_number(value(key));
    if (!number) damaged("\"" + key + "\" is no number");
    return *number;
}

void SweepStore::end() { set_value("ended", "yes"); }

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
        Statement insert(database_, "INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)");
        for (const KeptPoint& kept : rows) {
            const std::string row = kept.row.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
            const std::string sum = checksum({std::to_string(kept.point), std::to_string(kept.status), row});
            insert.bind(1, static_cast<std::int64_t>(kept.point)).bind(2, std::int64_t{kept.status}).bind(3, std::string_view(row));
            insert.bind(4, std::string_view(sum)).step();
        }
    });
}

void SweepStore::each_kept(const std::function<void(Kept&&)>& use)
{
    const std::size_t all = points();
    Statement select(database_, "SELECT point, status, row, checksum FROM kept ORDER BY point");
    while (select.step()) {
        const std::int64_t point = select.integer(0), status = select.integer(1);
        std::string row = select.text(2);
        if (point < 0 || static_cast<std::size_t>(point) >= all)
            damaged("it has point " + std::to_string(point) + " of " + std::to_string(all));
        if (select.text(3) != checksum({std::to_string(point), std::to_string(status), row}))
            damaged("the row of point " + std::to_string(point) + " is not what was written");
        use({static_cast<std::size_t>(point), static_cast<int>(status), std::move(row)});
    }
}

void SweepStore::each(const std::function<void(KeptPoint&&)>& use)
{
    each_kept([&](Kept&& kept) {
        OrderedJson row = OrderedJson::parse(kept.row, nullptr, false);
        if (!row.is_object()) damaged("the row of point " + std::to_string(kept.point) + " is no JSON");
        use({kept.point, kept.status, std::move(row)});
    });
}

std::vector<std::pair<std::size_t, int>> SweepStore::statuses()
{
    std::vector<std::pair<std::size_t, int>> list;
    each_kept([&](Kept&& kept) { list.emplace_back(kept.point, kept.status); });
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
