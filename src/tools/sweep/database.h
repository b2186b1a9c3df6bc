// An SQLite file: statements, and errors that name it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace dlasim {

class Database {
public:
    enum class Use { Write, Read };
    /// Makes the file if it is missing. What is committed survives a kill; after a power cut the last seconds may be missing. This process
    /// alone uses the file until it is closed.
    explicit Database(const std::filesystem::path& file, Use use = Use::Write);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// One or more statements without values.
    void run(const std::string& sql);
    /// All or none of what `change` does.
    void transaction(const std::function<void()>& change);
    const std::filesystem::path& file() const { return file_; }

private:
    friend class Statement;
    [[noreturn]] void refuse() const;

    struct Close {
        void operator()(sqlite3* handle) const;
    };

    std::filesystem::path file_;
    Use use_;
    std::unique_ptr<sqlite3, Close> handle_;
};

/// A statement, used as often as one likes: bind all, then step.
class Statement {
public:
    Statement(Database& database, const std::string& sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    Statement& bind(int place, std::int64_t value);  // places count from 1
    Statement& bind(int place, double value);
    Statement& bind(int place, std::string_view value);
    Statement& bind_nothing(int place);
    /// True if there is a row; after the last one the statement can be bound again.
    bool step();
    std::int64_t integer(int column) const;  // columns count from 0
    std::string text(int column) const;

private:
    void check(int status) const;

    Database& database_;
    sqlite3_stmt* handle_ = nullptr;
};

/// A name as SQL takes any: in double quotes.
std::string quoted_name(std::string_view name);

}  // namespace dlasim
