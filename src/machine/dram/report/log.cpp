#include "dram/report/log.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/files/json_text.h"

namespace dlasim::dram {

CommandLog::CommandLog(std::ostream& out) : out_(out) { out_ << "# cycle command channel rank group bank row column request\n"; }

void CommandLog::see(const Issued& i)
{
    if (is_column(i.command))
        fmt::print(out_, "{} {} {} {} {} {} {} {} {}\n", i.cycle, name(i.command), i.at.channel, i.at.rank, i.at.group, i.at.bank, i.at.row,
                   i.at.column, i.request);
    else if (names_bank(i.command))
        fmt::print(out_, "{} {} {} {} {} {} {} - -\n", i.cycle, name(i.command), i.at.channel, i.at.rank, i.at.group, i.at.bank, i.at.row);
    else fmt::print(out_, "{} {} {} {} - - - - -\n", i.cycle, name(i.command), i.at.channel, i.at.rank);
}

RowLog::RowLog(const Config& config, Closed closed)
    : ranks_(config.organisation.ranks()),
      banks_per_rank_(config.organisation.banks_per_rank()),
      banks_(config.organisation.banks),
      burst_(static_cast<Cycle>(config.burst())),
      rows_(std::size_t{config.organisation.channels} * config.organisation.banks_per_channel()),
      closed_(std::move(closed))
{
}

void RowLog::close(std::uint32_t bank, Cycle at)
{
    Row& row = rows_[bank];
    if (row.open) closed_(bank, row.row, row.since, at);
    row.open = false;
}

void RowLog::see(const Issued& i)
{
    const std::uint32_t first = (i.at.channel * ranks_ + i.at.rank) * banks_per_rank_, bank = first + i.at.group * banks_ + i.at.bank;
    switch (i.command) {
        case Command::Act:
            rows_[bank] = {true, i.cycle, i.at.row};
            break;
        case Command::Rda:
        case Command::Wra:
        case Command::Pre:
            close(bank, i.cycle + (is_column(i.command) ? burst_ : 0));
            break;
        case Command::PreAll:
            for (std::uint32_t b = first; b < first + banks_per_rank_; ++b) close(b, i.cycle);
            break;
        default:
            break;
    }
}

std::vector<std::string> bank_names(const Config& config)
{
    const Organisation& o = config.organisation;
    std::vector<std::string> names;
    for (std::uint32_t c = 0; c < o.channels; ++c)
        for (std::uint32_t b = 0; b < o.banks_per_channel(); ++b)
            names.push_back(fmt::format("{}rank {} group {} bank {}", o.channels > 1 ? fmt::format("channel {} ", c) : "",
                                        b / o.banks_per_rank(), b / o.banks % o.bank_groups, b % o.banks));
    return names;
}

Timeline::Timeline(std::ostream& out, const Config& config)
    : out_(out), config_(config), rows_(config, [this](std::uint32_t bank, std::uint32_t row, Cycle from, Cycle to) {
          const std::uint32_t of_channel = config_.organisation.banks_per_channel();
          slice(fmt::format("row {}", row), bank / of_channel, bank % of_channel, from, to - from);
      })
{
    const Organisation& o = config_.organisation;
    out_ << "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
    for (std::uint32_t c = 0; c < o.channels; ++c) {
        fmt::print(out_, "{}\n{{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": {}, \"args\": {{\"name\": {}}}}}", first_ ? "" : ",", c,
                   json_excerpt(fmt::format("{} channel {}", config_.name, c), SIZE_MAX));
        first_ = false;
        for (std::uint32_t b = 0; b < o.banks_per_channel(); ++b)
            fmt::print(out_,
                       ",\n{{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": {}, \"tid\": {}, \"args\": {{\"name\": \"rank {} group {} "
                       "bank {}\"}}}}",
                       c, b, b / o.banks_per_rank(), b / o.banks % o.bank_groups, b % o.banks);
    }
}

void Timeline::finish() { out_ << "\n]}\n"; }

void Timeline::slice(const std::string& what, std::uint32_t channel, std::uint32_t track, Cycle from, Cycle cycles)
{
    const double us = config_.tck_ns / 1000;
    fmt::print(out_, ",\n{{\"ph\": \"X\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": {:.6f}, \"dur\": {:.6f}}}", what, channel,
               track, static_cast<double>(from) * us, static_cast<double>(cycles) * us);
}

void Timeline::see(const Issued& i)
{
    const Organisation& o = config_.organisation;
    const std::uint32_t first = i.at.rank * o.banks_per_rank(), bank = first + i.at.group * o.banks + i.at.bank;
    if (is_column(i.command)) slice(std::string{name(i.command)}, i.at.channel, bank, i.cycle, static_cast<Cycle>(config_.burst()));
    rows_.see(i);
    if (i.command == Command::RefBank) slice("REFpb", i.at.channel, bank, i.cycle, static_cast<Cycle>(config_.trfcpb));
    if (i.command == Command::RefAll)
        for (std::uint32_t b = first; b < first + o.banks_per_rank(); ++b)
            slice("REF", i.at.channel, b, i.cycle, static_cast<Cycle>(config_.trfc));
}

}  // namespace dlasim::dram
