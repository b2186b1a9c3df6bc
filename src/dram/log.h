// The commands of a DRAM as text, and as a timeline with a track per bank.
//
//   text      cycle command channel rank group bank row column request
//   timeline  trace-event JSON for Perfetto and chrome://tracing: open rows, bursts, refreshes
#pragma once
#include <ostream>
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

class Timeline {
public:
    Timeline(std::ostream& out, const Config& config);
    void see(const Issued& issued);
    void finish();  // the end of the file

private:
    struct Row {
        bool open = false;
        Cycle since = 0;
        std::uint32_t row = 0;
    };
    void slice(const std::string& what, std::uint32_t channel, std::uint32_t track, Cycle from, Cycle cycles);
    void close(std::uint32_t channel, std::uint32_t bank, Cycle at);

    std::ostream& out_;
    const Config config_;
    std::vector<std::vector<Row>> rows_;  // by channel and bank
    bool first_ = true;
};

}  // namespace dlasim::dram
