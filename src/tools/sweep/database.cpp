#include "sweep/database.h"

#include <sqlite3.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace dlasim {
namespace {

constexpr int kPatience = 5000, kFarewell = 200;  // milliseconds

/// On one of these, readers of other hosts see no memory of ours: NFS, SMB and CIFS, Lustre, GPFS, Ceph, AFS, 9P, FUSE.
bool on_network(const std::filesystem::path& file)
{
    constexpr std::array<std::uint32_t, 10> kNetworks{0x6969,     0x517b,     0xff534d42, 0xfe534d42, 0x0bd00bd0,
                                                      0x47504653, 0x00c36400, 0x5346414f, 0x01021997, 0x65735546};
    struct statfs system = {};
    return ::statfs(file.c_str(), &system) != 0 ||
           std::ranges::find(kNetworks, static_cast<std::uint32_t>(system.f_type)) != kNetworks.end();
}

}  // namespace

Database::Database(const std::filesystem::path& file, Use use) : file_(file), use_(use)
{
    sqlite3* opened = nullptr;
    const int status = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    handle_.reset(opened);
    if (status != SQLITE_OK) {
        const std::string why = opened ? sqlite3_errmsg(opened) : "no memory";
        throw ConfigError(file.string(), "cannot be opened (" + why + "), expected a writable path");
    }
    sqlite3_busy_timeout(opened, kPatience);
    // Others may read what a sweep has, in memory shared with them, which network file systems lack: who holds the file alone needs none.
    if (on_network(file)) run("PRAGMA locking_mode = EXCLUSIVE");
    if (use == Use::Write) run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
}

Database::~Database()
{
    // One file is left, if nobody reads it.
    sqlite3_busy_timeout(handle_.get(), kFarewell);
    if (use_ == Use::Write) sqlite3_exec(handle_.get(), "PRAGMA journal_mode = DELETE", nullptr, nullptr, nullptr);
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close(handle); }

void Database::refuse() const
{
    throw ConfigError(file_.string(), std::string("cannot be used (") + sqlite3_errmsg(handle_.get()) + "), expected the table of a sweep");
}

void Database::run(const std::string& sql)
{
    if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) refuse();
}

void Database::transaction(const std::function<void()>& change)
{
    run("BEGIN IMMEDIATE");
    try {
        change();
        run("COMMIT");
    } catch (...) {
        sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
        throw;
    }
}

Statement::Statement(Database& database, const std::string& sql) : database_(database)
{
    check(sqlite3_prepare_v2(database.handle_.get(), sql.c_str(), static_cast<int>(sql.size()), &handle_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(handle_); }

void Statement::check(int status) const
{
    if (status != SQLITE_OK) database_.refuse();
}

Statement& Statement::bind(int place, std::int64_t value)
{
    check(sqlite3_bind_int64(handle_, place, value));
    return *this;
}

Statement& Statement::bind(int place, double value)
{
    check(sqlite3_bind_double(handle_, place, value));
    return *this;
}

Statement& Statement::bind(int place, std::string_view value)
{
    check(sqlite3_bind_text64(handle_, place, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
}

Statement& Statement::bind_nothing(int place)
{
    check(sqlite3_bind_null(handle_, place));
    return *this;
}

bool Statement::step()
{
    const int status = sqlite3_step(handle_);
    if (status == SQLITE_ROW) return true;
    if (status != SQLITE_DONE) database_.refuse();
    check(sqlite3_reset(handle_));
    return false;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }

std::string Statement::text(int column) const
{
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
    return text ? std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))) : std::string();
}

std::string quoted_name(std::string_view name)
{
    std::string quoted = "\"";
    for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

}  // namespace dlasim
