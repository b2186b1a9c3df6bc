// The commands of a DRAM as text, and as a timeline with a track per bank.
//
//   text      cycle command channel rank group bank row column request
//   timeline  trace-event JSON for Perfetto and chrome://tracing: open rows, bursts, refreshes
#pragma once
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "dram/config.h"

namespace dlasim::dram {

class CommandLog {
public:
    explicit CommandLog(std::ostream& out);
    void see(const Issued& issued);

private:
    std::ostream& out_;
};

/// Reports every open row when it is closed. Banks are numbered over ranks and groups, then channels.
class RowLog {
public:
    using Closed = std::function<void(std::uint32_t bank, std::uint32_t row, Cycle from, Cycle to)>;
    RowLog(const Config& config, Closed closed);
    void see(const Issued& issued);

private:
    struct Row {
        bool open = false;
        Cycle since = 0;
        std::uint32_t row = 0;
    };
    void close(std::uint32_t bank, Cycle at);

    std::uint32_t ranks_, banks_per_rank_, banks_;
    Cycle burst_;
    std::vector<Row> rows_;
    Closed closed_;
};
/// "rank 0 group 1 bank 2", with the channel where there is more than one.
std::vector<std::string> bank_names(const Config& config);

class Timeline {
public:
    Timeline(std::ostream& out, const Config& config);
    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;
    void see(const Issued& issued);
    void finish();  // the end of the file

private:
    void slice(const std::string& what, std::uint32_t channel, std::uint32_t track, Cycle from, Cycle cycles);

    std::ostream& out_;
    const Config config_;
    RowLog rows_;
    bool first_ = true;
};

}  // namespace dlasim::dram
