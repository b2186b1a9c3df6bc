#include "sweep/database.h"

#include <sqlite3.h>

#include "base/error.h"

namespace dlasim {

Database::Database(const std::filesystem::path& file, Use use) : file_(file), use_(use)
{
    sqlite3* opened = nullptr;
    const int status = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    handle_.reset(opened);
    if (status != SQLITE_OK) {
        const std::string why = opened ? sqlite3_errmsg(opened) : "no memory";
        throw ConfigError(file.string(), "cannot be opened (" + why + "), expected a place that can be written");
    }
    sqlite3_busy_timeout(opened, 5000);
    // Who holds the file alone needs no memory shared with others, which network file systems lack.
    run("PRAGMA locking_mode = EXCLUSIVE");
    if (use == Use::Write) run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
}

Database::~Database()
{
    // One file is left.
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
