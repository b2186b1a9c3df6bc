#include "dram/log.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cstdint>
#include <string>

#include "files/json_text.h"

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

Timeline::Timeline(std::ostream& out, const Config& config) : out_(out), config_(config)
{
    const Organisation& o = config_.organisation;
    rows_.assign(o.channels, std::vector<Row>(o.banks_per_channel()));
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

void Timeline::close(std::uint32_t channel, std::uint32_t bank, Cycle at)
{
    Row& row = rows_[channel][bank];
    if (row.open) slice(fmt::format("row {}", row.row), channel, bank, row.since, at - row.since);
    row.open = false;
}

void Timeline::see(const Issued& i)
{
    const Organisation& o = config_.organisation;
    const std::uint32_t first = i.at.rank * o.banks_per_rank(), bank = first + i.at.group * o.banks + i.at.bank;
    if (is_column(i.command)) slice(std::string{name(i.command)}, i.at.channel, bank, i.cycle, static_cast<Cycle>(config_.burst()));
    switch (i.command) {
        case Command::Act:
            rows_[i.at.channel][bank] = {true, i.cycle, i.at.row};
            break;
        case Command::Rda:
        case Command::Wra:
        case Command::Pre:
            close(i.at.channel, bank, i.cycle + (is_column(i.command) ? static_cast<Cycle>(config_.burst()) : 0));
            break;
        case Command::PreAll:
            for (std::uint32_t b = first; b < first + o.banks_per_rank(); ++b) close(i.at.channel, b, i.cycle);
            break;
        case Command::RefAll:
            for (std::uint32_t b = first; b < first + o.banks_per_rank(); ++b)
                slice("REF", i.at.channel, b, i.cycle, static_cast<Cycle>(config_.trfc));
            break;
        case Command::RefBank:
            slice("REFpb", i.at.channel, bank, i.cycle, static_cast<Cycle>(config_.trfcpb));
            break;
        default:
            break;
    }
}

}  // namespace dlasim::dram
