// DIR/points.db, an SQLite file: every point that has ended, kept before the next one is looked at. What a killed sweep goes on from,
// and the table `points` for whoever asks in SQL.
//
//   identity   what decides the rows: the sweep and all files it names, the binary, the options
//   kept       a row a point that has ended: its status, and its row as JSON
//   points     the same with a column a figure; written when a sweep ends or is interrupted
//
// Rows of the first two have a checksum each. What is read again is what was written: a row that a disk has changed, a table of somebody
// else is a ConfigError.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/json_text.h"
#include "sweep/database.h"

namespace dlasim {

/// Digests, equal where rows are.
struct SweepIdentity {
    std::string sweep, binary, options;
    std::string file = {};     // of the sweep, where it was; says nothing of the rows
    std::string require = {};  // digest of what it requires: decides which machines need not run, and what the tables say of rows
    bool operator==(const SweepIdentity& other) const { return sweep == other.sweep && binary == other.binary && options == other.options; }
};
/// "its file, its binary": in what two differ.
std::string difference_text(const SweepIdentity& a, const SweepIdentity& b);

/// Every n-th point, from the i-th on.
struct SweepShard {
    std::size_t i = 1, n = 1;
    bool has(std::size_t point) const { return point % n == i - 1; }
    std::size_t count(std::size_t points) const { return points / n + (points % n >= i ? 1 : 0); }
    std::string text() const { return std::to_string(i) + "/" + std::to_string(n); }
};

struct KeptPoint {
    std::size_t point = 0;
    int status = 0;
    nlohmann::ordered_json row;
};

/// How the reason of a point begins that need not run, since its machine cannot meet the requirements.
inline constexpr std::string_view kCannotMeet = "require: ";
/// The same where another machine is better.
inline constexpr std::string_view kCannotWin = "best: ";

class SweepStore {
public:
    explicit SweepStore(const std::filesystem::path& file, Database::Use use = Database::Use::Write) : database_(file, use) {}

    /// False in a new file. ConfigError if it has other tables than those of a sweep, or they are damaged.
    bool begun();
    /// pre: !begun()
    void begin(const SweepIdentity& identity, std::size_t points, const SweepShard& shard);
    SweepIdentity identity();
    std::string shard() { return value("shard"); }
    /// Of the whole sweep.
    std::size_t points() { return number("points"); }
    /// Of this shard.
    std::size_t own_points() { return number("own_points"); }
    std::size_t kept();
    /// No other point will run: a search has ended.
    void end();
    bool ended();
    /// Other requirements: machines that did not need to run by the earlier ones are to be looked at again. Results stay.
    void judge_anew(const std::string& require);
    /// Durable when it returns.
    void keep(const std::vector<KeptPoint>& rows);
    /// In the order of the points.
    void each(const std::function<void(KeptPoint&&)>& use);
    /// Points by status, without their rows.
    std::vector<std::pair<std::size_t, int>> statuses();
    /// Rebuilds the table `points` from the kept rows, when `complete` has filled in what a row says of others; `use` gets every row.
    void write_table(const std::vector<std::string>& columns, const std::function<void(KeptPoint&)>& complete,
                     const std::function<void(const KeptPoint&)>& use);

private:
    struct Kept {
        std::size_t point = 0;
        int status = 0;
        std::string row;
    };
    [[noreturn]] void damaged(const std::string& what) const;
    std::string value(const std::string& key);
    std::string value_or_none(const std::string& key);
    void set_value(const std::string& key, const std::string& value);
    std::size_t number(const std::string& key);
    /// Every row of `kept`, in the order of the points.
    void each_kept(const std::function<void(Kept&&)>& use);
    Database database_;
};

}  // namespace dlasim
