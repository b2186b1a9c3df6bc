#include "app/optimise/tried_store.h"

#include <fmt/format.h>

#include <bit>
#include <sstream>

#include "base/error.h"
#include "base/files/console.h"
#include "base/files/digest.h"
#include "base/files/printable.h"

namespace dlasim {
namespace {

std::string digest(std::initializer_list<std::string_view> texts)
{
    Digest sum;
    for (const std::string_view text : texts) sum.add(text);
    return sum.text();
}

/// Numbers with spaces between: figures as bits, so that what is read is what was written.
std::string text_of(const TrialOutcome& outcome)
{
    std::string text = fmt::format("{:d} {} {:d}", outcome.possible, outcome.least_cycles, outcome.tried.has_value());
    if (!outcome.tried) return text;
    for (const double figure : outcome.tried->figures) text += fmt::format(" {}", std::bit_cast<std::uint64_t>(figure));
    for (const std::int64_t cycles : outcome.tried->steps) text += fmt::format(" {}", cycles);
    return text;
}

/// None of a text of another form.
std::optional<TrialOutcome> outcome_of(const std::string& text)
{
    std::istringstream in(text);
    TrialOutcome outcome;
    bool tried = false;
    if (!(in >> outcome.possible >> outcome.least_cycles >> tried)) return std::nullopt;
    if (!tried) return outcome;
    TriedProgram& program = outcome.tried.emplace();
    for (std::size_t i = 0; i < figure_names().size(); ++i) {
        std::uint64_t bits = 0;
        if (!(in >> bits)) return std::nullopt;
        program.figures.push_back(std::bit_cast<double>(bits));
    }
    for (std::int64_t cycles = 0; in >> cycles;) program.steps.push_back(cycles);
    return outcome;
}

}  // namespace

TriedStore::TriedStore(const std::optional<std::filesystem::path>& file, std::string identity) : identity_(std::move(identity))
{
    if (!file) return;
    claim_.emplace(*file);
    try {
        database_.emplace(*file);
        database_->run(
            "CREATE TABLE IF NOT EXISTS tried "
            "(identity TEXT, candidate TEXT, outcome TEXT, checksum TEXT, PRIMARY KEY (identity, candidate))");
        database_->run(
            fmt::format("DELETE FROM tried WHERE rowid IN (SELECT rowid FROM tried ORDER BY rowid DESC LIMIT -1 OFFSET {})", kMostRows));
        read();
    } catch (const ConfigError& error) {
        known_.clear();
        ignore(error.what());
    }
}

void TriedStore::read()
{
    Statement select(*database_, "SELECT candidate, outcome, checksum FROM tried WHERE identity = ?");
    select.bind(1, std::string_view(identity_));
    while (select.step()) {
        const std::string candidate = select.text(0), text = select.text(1);
        std::optional<TrialOutcome> outcome = outcome_of(text);
        if (!outcome || select.text(2) != digest({identity_, candidate, text}))
            throw ConfigError(database_->file().string(), "a row is not what was written, expected the file of a search");
        known_[candidate] = *std::move(outcome);
    }
}

void TriedStore::ignore(const std::string& why)
{
    database_.reset();
    say_error("dlasim: warning: {}; the search does without it\n", printable(why));
}

const TrialOutcome* TriedStore::find(const std::string& candidate) const
{
    const auto known = known_.find(digest({candidate}));
    return known == known_.end() ? nullptr : &known->second;
}

void TriedStore::keep(const std::string& candidate, const TrialOutcome& outcome)
{
    const std::string key = digest({candidate});
    known_[key] = outcome;
    if (database_) fresh_.push_back(key);
}

void TriedStore::commit()
{
    if (!database_ || fresh_.empty()) return;
    try {
        database_->transaction([&] {
            Statement insert(*database_, "INSERT OR REPLACE INTO tried VALUES (?, ?, ?, ?)");
            for (const std::string& key : fresh_) {
                const std::string text = text_of(known_[key]), sum = digest({identity_, key, text});
                insert.bind(1, std::string_view(identity_)).bind(2, std::string_view(key)).bind(3, std::string_view(text));
                insert.bind(4, std::string_view(sum)).step();
            }
        });
    } catch (const ConfigError& error) {
        ignore(error.what());
    }
    fresh_.clear();
}

}  // namespace dlasim
