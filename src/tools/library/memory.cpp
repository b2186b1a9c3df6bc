#include "dlasim/memory.h"

#include <algorithm>
#include <istream>
#include <optional>
#include <ostream>

#include "config/machine/memory.h"
#include "dram/read/reader.h"
#include "dram/report/report.h"
#include "memory/dram_memory.h"
#include "memory/ideal_memory.h"

namespace dlasim {
namespace {

constexpr unsigned kMaxPorts = 32;
constexpr const char* kMemoryHeader = "dlasim memory 1";

}  // namespace

struct Memory::Parts {
    explicit Parts(const MemoryOptions& options) : policy(options.policy), clock(options.clock_period)
    {
        failures.listen([on_error = options.on_error](const std::string& what) {
            if (on_error) on_error(MachineError(what));
            else SC_REPORT_ERROR("/dlasim/memory", what.c_str());
        });
        const MemorySpec spec = parse_memory(options.memory, "memory");
        if (spec.kind == "ideal" && policy) throw ConfigError("policy", "found with an ideal memory, expected a DRAM");
        if (spec.kind != "ideal") {
            const dram::Config config = dram::read_config(spec);
            if (policy && config.controller.profile != dram::Profile::Default)
                throw ConfigError("policy", "found with controller.profile=reference, expected the default controller");
            dram.emplace("dram", clock, config, store, false, options.ports, policy.get());
            dram->failures = &failures;
            return;
        }
        for (unsigned i = 0; i < options.ports; ++i) {
            ideal.push_back(std::make_unique<IdealMemory>(sc_core::sc_gen_unique_name("ideal"), clock, spec, store));
            ideal.back()->failures = &failures;
        }
    }
    const std::shared_ptr<const DramPolicy> policy;
    Clock clock;
    MemoryStore store;
    Failures failures;
    std::vector<std::unique_ptr<IdealMemory>> ideal;  // by port
    std::optional<DramMemory> dram;
    std::vector<dram::Statistics> from;  // by channel; empty: since the beginning
};

Memory::Memory(const sc_core::sc_module_name& name, const MemoryOptions& options) : sc_module(name)
{
    if (options.ports == 0 || options.ports > kMaxPorts)
        throw ConfigError("ports", "found " + std::to_string(options.ports) + ", expected 1..32");
    if (options.clock_period == sc_core::SC_ZERO_TIME) throw ConfigError("clock_period", "is 0, expected at least the resolution of time");
    parts_ = std::make_unique<Parts>(options);
}

Memory::~Memory() = default;

unsigned Memory::ports() const { return parts_->dram ? parts_->dram->ports() : static_cast<unsigned>(parts_->ideal.size()); }

void Memory::check_port(unsigned port) const
{
    if (port >= ports()) throw ConfigError("port", "found " + std::to_string(port) + ", expected less than " + std::to_string(ports()));
}

tlm::tlm_target_socket<512>& Memory::port(unsigned i)
{
    check_port(i);
    return parts_->dram ? parts_->dram->socket(i) : parts_->ideal[i]->socket;
}

void Memory::set_priority(unsigned port, unsigned priority)
{
    check_port(port);
    if (parts_->dram) parts_->dram->set_priority(port, priority);
}

void Memory::set_limit(unsigned port, unsigned bursts)
{
    check_port(port);
    if (parts_->dram) parts_->dram->set_limit(port, bursts);
}

void Memory::set_offset(unsigned port, std::uint64_t bytes)
{
    check_port(port);
    if (parts_->dram) parts_->dram->set_offset(port, bytes);
    else parts_->ideal[port]->set_offset(bytes);
}

std::vector<std::uint8_t> Memory::read(std::uint64_t address, std::uint64_t bytes) const
{
    std::vector<std::uint8_t> data(bytes);
    read(address, data);
    return data;
}

void Memory::read(std::uint64_t address, std::span<std::uint8_t> bytes) const { parts_->store.read(address, bytes.data(), bytes.size()); }

void Memory::write(std::uint64_t address, std::span<const std::uint8_t> bytes) { parts_->store.write(address, bytes.data(), bytes.size()); }

PortStatistics Memory::statistics(unsigned port) const
{
    check_port(port);
    if (!parts_->dram) return {};
    const PortCounts& counts = parts_->dram->counts(port);
    return {counts.reads,
            counts.read_bytes,
            counts.writes,
            counts.write_bytes,
            counts.answered_reads == 0 ? 0 : static_cast<double>(counts.read_cycles) / static_cast<double>(counts.answered_reads),
            counts.held_back};
}

std::string Memory::report()
{
    if (!parts_->dram) return "null";
    std::vector<dram::Statistics> now = parts_->dram->statistics(parts_->clock.now());
    for (std::size_t i = 0; i < parts_->from.size(); ++i) now[i] = now[i].since(parts_->from[i]);
    return dram::statistics_json(parts_->dram->config(), now).dump(1);
}

void Memory::reset_statistics()
{
    if (!parts_->dram) return;
    parts_->from = parts_->dram->statistics(parts_->clock.now());
    parts_->dram->reset_counts();
}

void Memory::save(std::ostream& out) const
{
    out << kMemoryHeader << ' ' << parts_->store.pages() << '\n';
    parts_->store.each_page([&](std::uint64_t address, std::span<const std::uint8_t> bytes) {
        out << address << ' ' << bytes.size() << '\n';
        out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    });
}

void Memory::restore(std::istream& in)
{
    const ConfigError wrong(name(), "cannot take these bytes, expected what Memory::save() has written");
    std::string line;
    if (!std::getline(in, line) || !line.starts_with(std::string(kMemoryHeader) + ' ')) throw wrong;
    std::size_t pages = 0;
    std::vector<std::pair<std::uint64_t, std::vector<std::uint8_t>>> read;
    try {
        pages = std::stoull(line.substr(std::string(kMemoryHeader).size()));
    } catch (const std::logic_error&) {
        throw wrong;
    }
    for (std::size_t i = 0; i < pages; ++i) {
        std::uint64_t address = 0, bytes = 0;
        if (!(in >> address >> bytes) || in.get() != '\n' || bytes != MemoryStore::kPageBytes || address % bytes != 0) throw wrong;
        std::vector<std::uint8_t> data(bytes);
        if (!in.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(bytes))) throw wrong;
        read.emplace_back(address, std::move(data));
    }
    parts_->store.clear();
    for (const auto& [address, bytes] : read) parts_->store.write(address, bytes.data(), bytes.size());
}

}  // namespace dlasim
