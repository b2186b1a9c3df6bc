// The DRAM behind its TLM-2.0 socket, driven by an initiator with a command channel and the four
// phases. One process a test: SystemC's kernel is a singleton.
#include "memory/dram_memory.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <random>

#include "dram/read/reader.h"
#include "links/dbb_socket.h"

namespace dlasim {
namespace dram_memory_test {

using tlm::tlm_generic_payload;

/// Sends requests, one at a time on the request channel, each not before its cycle; takes answers
/// as they come, a beat a cycle. Calls `ahead` cycles before a request, as the memory port does.
class Initiator final : public sc_core::sc_module, tlm::tlm_bw_transport_if<>, tlm::tlm_mm_interface {
public:
    tlm::tlm_initiator_socket<512> socket{"socket"};

    struct Access {
        Cycle from = 0;
        std::uint64_t address = 0;
        std::vector<std::uint8_t> data;
        bool write = false;
        Cycle accepted = 0, answered = 0;  // out: END_REQ, first beat or response
        tlm::tlm_response_status status{};
    };
    std::vector<Access> accesses;
    std::vector<std::size_t> order;  // of the answers to reads
    bool paced = true;
    std::uint32_t beat_bytes = 64;
    Cycle stall = 0;  // cycles a response is held

    Initiator(const sc_core::sc_module_name& name, const Clock& clock) : sc_module(name), clock_(clock)
    {
        socket.bind(*this);
        SC_HAS_PROCESS(Initiator);
        SC_METHOD(run);
        sensitive << wake_;
    }

private:
    struct Tag : BurstClient {
        std::size_t index = 0;
    };
    void run()
    {
        const Cycle now = clock_.now();
        if (!asked_ && paced) {
            tlm_generic_payload question;
            PortPace pace;
            question.set_command(tlm::TLM_IGNORE_COMMAND);
            question.set_extension(&pace);
            socket->transport_dbg(question);
            question.clear_extension(&pace);
        }
        asked_ = true;
        while (!ending_.empty() && ending_.begin()->first <= now) {
            tlm::tlm_phase phase = tlm::END_RESP;
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            tlm_generic_payload* payload = ending_.begin()->second;
            ending_.erase(ending_.begin());
            socket->nb_transport_fw(*payload, phase, delay);
            payload->release();
        }
        if (!waiting_ && next_ < accesses.size() && std::max(accesses[next_].from, last_ + 1) <= now + 1) send(now);
        Cycle wake = ending_.empty() ? kNever : ending_.begin()->first;
        if (!waiting_ && next_ < accesses.size()) wake = std::min(wake, std::max({accesses[next_].from, last_ + 1, now + 2}) - 1);
        if (wake != kNever) wake_.notify(clock_.at(std::max(wake, now + 1)) - sc_core::sc_time_stamp());
    }
    void send(Cycle now)
    {
        Access& access = accesses[next_];
        auto* payload = new tlm_generic_payload;
        auto* tag = new Tag;
        tag->index = next_++;
        tag->beat_bytes = beat_bytes;
        payload->set_mm(this);
        payload->acquire();
        payload->set_extension(tag);
        payload->set_command(access.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        payload->set_address(access.address);
        payload->set_data_ptr(access.data.data());
        payload->set_data_length(static_cast<unsigned>(access.data.size()));
        payload->set_streaming_width(static_cast<unsigned>(access.data.size()));
        last_ = now + 1;
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay = clock_.period();
        switch (socket->nb_transport_fw(*payload, phase, delay)) {
            case tlm::TLM_COMPLETED:
                access.accepted = now + 1;
                access.answered = cycle(delay);
                access.status = payload->get_response_status();
                payload->release();
                break;
            case tlm::TLM_UPDATED:
                EXPECT_EQ(phase, tlm::END_REQ);
                access.accepted = cycle(delay);
                break;
            case tlm::TLM_ACCEPTED:
                waiting_ = true;
                break;
        }
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override
    {
        const std::size_t index = static_cast<Tag*>(payload.get_extension<BurstClient>())->index;
        Access& access = accesses[index];
        EXPECT_GE(delay, clock_.period());  // so that no order of processes matters
        if (phase == tlm::END_REQ) {
            waiting_ = false;
            access.accepted = last_ = cycle(delay);
            wake_.notify(sc_core::SC_ZERO_TIME);
        } else {
            EXPECT_EQ(phase, tlm::BEGIN_RESP);
            EXPECT_TRUE(ending_.empty()) << "two responses at a time";
            access.answered = cycle(delay);
            access.status = payload.get_response_status();
            if (!access.write) order.push_back(index);
            const Cycle beats = access.write ? 1 : (access.data.size() + beat_bytes - 1) / beat_bytes;
            ending_.emplace(access.answered + beats - 1 + stall, &payload);
            wake_.notify(clock_.at(ending_.begin()->first) - sc_core::sc_time_stamp());
        }
        return tlm::TLM_ACCEPTED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    void free(tlm_generic_payload* payload) override { delete payload; }
    Cycle cycle(const sc_core::sc_time& delay) const
    {
        const std::uint64_t time = (sc_core::sc_time_stamp() + delay).value();
        EXPECT_EQ(time % clock_.period().value(), 0u);
        return time / clock_.period().value();
    }

    const Clock& clock_;
    sc_core::sc_event wake_{"wake"};
    std::size_t next_ = 0;
    std::multimap<Cycle, tlm_generic_payload*> ending_;
    bool waiting_ = false, asked_ = false;
    Cycle last_ = 0;
};

struct Bench {
    Clock clock;
    MemoryStore store;
    DramMemory dram;
    Initiator port;

    explicit Bench(const std::string& preset, const std::map<std::string, std::string>& options = {}, double period_ns = 1.0,
                   unsigned ports = 1)
        : clock(sc_core::sc_time(period_ns, sc_core::SC_NS)),
          dram("dram", clock, dram::read_config(preset, options), store, true, ports),
          port("port", clock)
    {
        port.socket.bind(dram.socket());
    }
    void read(Cycle from, std::uint64_t address, std::size_t bytes = 64)
    {
        port.accesses.push_back({from, address, std::vector<std::uint8_t>(bytes), false});
    }
    void write(Cycle from, std::uint64_t address, std::size_t bytes, std::uint8_t value)
    {
        port.accesses.push_back({from, address, std::vector<std::uint8_t>(bytes, value), true});
    }
    std::vector<dram::Statistics> run(Cycle cycles)
    {
        sc_core::sc_start(clock.at(cycles));
        auto statistics = dram.finish(cycles);
        EXPECT_EQ(dram.checker()->count(), 0u) << dram.checker()->violations().front().what;
        return statistics;
    }
};

/// A second initiator with a port of its own.
struct SharedBench {
    Bench first;
    DramMemory& dram = first.dram;
    Initiator& port = first.port;
    Initiator other{"other", first.clock};

    explicit SharedBench(const char* preset = "ddr4-2400") : first(preset, {}, 1.0, 2) { other.socket.bind(dram.socket(1)); }
    /// As many reads of 64 bytes for either, as fast as they are taken; of rows that differ.
    void stream(std::size_t count)
    {
        for (std::size_t i = 0; i < count; ++i) {
            first.read(1, i * 64);
            other.accesses.push_back({1, (std::uint64_t{1} << 30) + i * 64, std::vector<std::uint8_t>(64), false});
        }
        first.run(400'000);
        for (const Initiator* initiator : {&port, &other}) {
            EXPECT_TRUE(std::ranges::is_sorted(initiator->order));
            EXPECT_EQ(initiator->order.size(), count);
        }
    }
};

TEST(DramMemoryModule, EqualPortsShareTheRateOfTheDram)
{
    SharedBench bench;
    bench.stream(5'000);
    const auto one = static_cast<double>(bench.port.accesses.back().answered),
               two = static_cast<double>(bench.other.accesses.back().answered);
    EXPECT_GT(std::max(one, two), 10'000 * 4 * 0.833);          // both move their data over one bus
    EXPECT_LT(std::abs(one - two), 0.05 * std::max(one, two));  // in turn: neither ends long before the other
    for (const unsigned i : {0U, 1U}) {
        EXPECT_EQ(bench.dram.counts(i).reads, 5'000u);
        EXPECT_EQ(bench.dram.counts(i).read_bytes, 5'000u * 64);
        EXPECT_EQ(bench.dram.counts(i).writes, 0u);
    }
    bench.dram.reset_counts();
    EXPECT_EQ(bench.dram.counts(0).reads, 0u);
}

TEST(DramMemoryModule, APortOfHigherPriorityEndsFirst)
{
    SharedBench bench;
    bench.dram.set_priority(1, 1);
    bench.stream(5'000);
    const Cycle first = bench.other.accesses.back().answered;
    const auto& low = bench.port.accesses;
    const auto served = std::ranges::count_if(low, [&](const auto& access) { return access.answered <= first; });
    EXPECT_LT(served, 2'500);  // of 5,000: without priority it would have almost all of them
    EXPECT_LT(bench.dram.counts(1).held_back, bench.dram.counts(0).held_back);
}

TEST(DramMemoryModule, ALimitHoldsBurstsBack)
{
    SharedBench bench;
    bench.dram.set_limit(0, 4);
    bench.stream(1'000);
    const auto& accesses = bench.port.accesses;
    for (std::size_t i = 4; i < accesses.size(); ++i) EXPECT_GE(accesses[i].accepted, accesses[i - 4].answered) << i;
    EXPECT_GT(accesses.back().answered, bench.other.accesses.back().answered);
}

/// Sums of the cycles in which the requests of two ports are taken and answered.
struct SharedRun {
    const char* preset;
    unsigned priority, limit;  // of the second port
    std::array<Cycle, 4> cycles;
};

void PrintTo(const SharedRun& it, std::ostream* out) { *out << it.preset << " priority " << it.priority << " limit " << it.limit; }

class SharedDram : public testing::TestWithParam<SharedRun> {};
// Recorded at 68923f9c. A change here is another order of masters, which no other test sees.
INSTANTIATE_TEST_SUITE_P(DramMemoryModule, SharedDram,
                         testing::Values(SharedRun{"ddr4-3200", 0, 0, {67788251, 68254584, 69057167, 69496441}},
                                         SharedRun{"ddr4-3200", 1, 0, {93487229, 93925303, 41651215, 42125155}},
                                         SharedRun{"ddr4-3200", 0, 3, {42134251, 42595529, 105415599, 105559659}},
                                         SharedRun{"lpddr4-3200", 0, 0, {63159853, 63860696, 63788296, 64501934}},
                                         SharedRun{"lpddr4-3200", 2, 5, {40292737, 41049540, 108021090, 108285255}},
                                         SharedRun{"hbm2", 0, 0, {38965538, 39203750, 39519625, 39752414}},
                                         SharedRun{"hbm2", 1, 8, {38965545, 39196066, 40364101, 40515846}}));

/// Reads and writes in bursts of any length, near and far, with pauses.
TEST_P(SharedDram, MastersAreServedInTheRecordedCycles)
{
    const SharedRun& expected = GetParam();
    SharedBench bench{expected.preset};
    bench.dram.set_priority(1, expected.priority);
    bench.dram.set_limit(1, expected.limit);
    std::mt19937 random(1);
    for (Initiator* initiator : {&bench.port, &bench.other}) {
        Cycle from = 1;
        std::uint64_t address = 0;
        for (int i = 0; i < 3'000; ++i) {
            if (random() % 16 == 0) from += random() % 300;
            if (random() % 8 == 0) address = random() % (std::uint64_t{1} << 22) * 64;
            const std::size_t bytes = 64 * (1 + random() % 4);
            initiator->accesses.push_back({from, address, std::vector<std::uint8_t>(bytes), random() % 3 == 0});
            address += bytes;
        }
    }
    bench.first.run(400'000);
    std::array<Cycle, 4> cycles{};
    for (unsigned i = 0; i < 2; ++i)
        for (const auto& access : (i == 0 ? bench.port : bench.other).accesses) {
            cycles[2 * i] += access.accepted;
            cycles[2 * i + 1] += access.answered;
        }
    EXPECT_THAT(cycles, testing::ElementsAreArray(expected.cycles));
}

TEST(DramMemoryModule, AnOffsetMovesThePort)
{
    SharedBench bench;
    bench.dram.set_offset(1, 4096);
    bench.first.write(10, 4096 + 128, 64, 7);
    bench.other.accesses.push_back({200, 128, std::vector<std::uint8_t>(64), false});
    bench.first.run(1000);
    EXPECT_EQ(bench.other.accesses[0].data, std::vector<std::uint8_t>(64, 7));
    EXPECT_GT(bench.other.accesses[0].answered, 200u);
}

TEST(DramMemoryModule, AReadOfAClosedBankTakesTheSumOfItsCommands)
{
    Bench bench{"ddr4-2400"};
    bench.read(10, 0);
    bench.run(1000);
    // 10 ns is in DRAM cycle 13 (0.833 ns); ACT 14, RD 14 + 17, last data before 31 + 17 + 4 = 52,
    // which is 43.3 ns: cycle 44.
    EXPECT_EQ(bench.port.accesses[0].accepted, 10u);
    EXPECT_EQ(bench.port.accesses[0].answered, 44u);
}

TEST(DramMemoryModule, ARankInPowerDownWakesFirst)
{
    Bench bench{"ddr4-2400"};
    bench.read(1000, 0);
    bench.run(2000);
    // 1000 ns is cycle 1201; PDX 1202, tXP 8 more, ACT 1210, RD 1227, data before 1248: 1039.6 ns.
    EXPECT_EQ(bench.port.accesses[0].answered, 1040u);
}

TEST(DramMemoryModule, BeatsOfABurstFollowOneEachCycle)
{
    Bench bench{"ddr4-2400"};
    bench.read(10, 0, 256);
    bench.run(1000);
    // Parts go to four bank groups: ACTs 4 apart, so the last of four data bursts ends at
    // 52 + 12 = 64 (53.3 ns, cycle 54) and has to be on the port as the fourth beat: first beat 51.
    EXPECT_EQ(bench.port.accesses[0].answered, 51u);
}

TEST(DramMemoryModule, AWritePostedIsAnsweredAtOnce)
{
    Bench bench{"ddr4-2400"};
    bench.write(10, 0, 64, 1);
    bench.run(1000);
    EXPECT_EQ(bench.port.accesses[0].accepted, 10u);
    EXPECT_EQ(bench.port.accesses[0].answered, 12u);  // in the queue at 13, answered at 14 DRAM cycles: 11.7 ns
}

TEST(DramMemoryModule, AddressesBeyondTheCapacityAreAnAddressErrorWhereTheyDoNotWrap)
{
    Bench bench{"ddr4-2400", {{"wrap", "false"}}};
    bench.read(10, std::uint64_t{8} << 30);
    bench.read(20, (std::uint64_t{8} << 30) - 64);
    bench.run(1000);
    EXPECT_EQ(bench.port.accesses[0].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(bench.port.accesses[1].status, tlm::TLM_OK_RESPONSE);
}

TEST(DramMemoryModule, ABaseAndWrappingAreOptions)
{
    Bench bench{"ddr4-2400", {{"base", "0x80000000"}, {"wrap", "true"}}};
    bench.read(10, 0x7fffffc0);
    bench.read(20, 0x80000000);
    bench.read(30, 0x400000000);
    bench.run(1000);
    EXPECT_EQ(bench.port.accesses[0].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(bench.port.accesses[1].status, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(bench.port.accesses[2].status, tlm::TLM_OK_RESPONSE);
}

/// Streams `count` reads as fast as they are taken; cycles from first request to last answer.
Cycle stream(Bench& bench, std::size_t count, std::size_t bytes)
{
    for (std::size_t i = 0; i < count; ++i) bench.read(1, i * bytes, bytes);
    bench.run(400'000);
    return bench.port.accesses.back().answered;
}

TEST(DramMemoryModule, StreamsAreHeldBackToTheRateOfTheDram)
{
    Bench bench{"ddr4-2400"};
    const Cycle cycles = stream(bench, 20'000, 64);
    // 64 bytes take 4 x 0.833 ns; the port would take 64 bytes a nanosecond. Refresh costs up to 5 %.
    const double ns_of_data = 20'000 * 4 * 0.833;
    EXPECT_GT(static_cast<double>(cycles), ns_of_data);
    EXPECT_LT(static_cast<double>(cycles), ns_of_data * 1.06);
    std::size_t held = 0;
    for (const auto& access : bench.port.accesses) held += access.accepted != 0 && access.answered > access.accepted + 40;
    EXPECT_GT(held, 10'000u);  // the queue is full of reads before each of them
}

TEST(DramMemoryModule, AFastMemoryIsHeldBackByThePort)
{
    Bench bench{"hbm2"};  // 256 GB/s behind a port of 64
    const Cycle cycles = stream(bench, 20'000, 256);
    EXPECT_LT(cycles, 20'000u * 4 * 101 / 100);
}

class AnyClock : public testing::TestWithParam<std::tuple<std::string, double, bool, Cycle>> {};
INSTANTIATE_TEST_SUITE_P(DramMemoryModule, AnyClock,
                         testing::Combine(testing::Values("ddr4-2400", "ddr4-3200", "lpddr4-3200", "lpddr5-6400", "hbm2",
                                                          "reference-ddr4-2400"),
                                          testing::Values(0.5, 1.0, 3.7, 40.0), testing::Bool(), testing::Values(Cycle{0}, Cycle{7})));

/// Random reads and writes: each read returns what was written last before it, reads are answered in
/// their order, nothing is lost, no rule is broken.
TEST_P(AnyClock, ValuesOrderAndConservation)
{
    const auto& [preset, period, paced, stall] = GetParam();
    Bench bench{preset, {}, period};
    bench.port.paced = paced;
    bench.port.stall = stall;
    std::mt19937_64 random{3};
    std::map<std::uint64_t, std::uint8_t> expected;
    std::vector<std::vector<std::uint8_t>> values;
    Cycle from = 1;
    for (int i = 0; i < 1500; ++i) {
        if (random() % 20 == 0) from += random() % 3000;
        const std::size_t bytes = std::size_t{32} << random() % 4;
        const std::uint64_t address = random() % 4096 * 32 + random() % 3 * (1 << 26);
        if (random() % 3 == 0) {
            bench.write(from, address, bytes, static_cast<std::uint8_t>(i));
            for (std::size_t b = 0; b < bytes; ++b) expected[address + b] = static_cast<std::uint8_t>(i);
            values.emplace_back();
        } else {
            bench.read(from, address, bytes);
            std::vector<std::uint8_t> value(bytes);
            for (std::size_t b = 0; b < bytes; ++b)
                if (const auto found = expected.find(address + b); found != expected.end()) value[b] = found->second;
            values.push_back(value);
        }
    }
    const auto statistics = bench.run(from + 200'000);
    EXPECT_TRUE(std::is_sorted(bench.port.order.begin(), bench.port.order.end()));
    for (std::size_t i = 0; i < bench.port.accesses.size(); ++i) {
        const auto& access = bench.port.accesses[i];
        ASSERT_GT(access.answered, access.accepted) << i;
        ASSERT_GE(access.accepted, access.from) << i;
        ASSERT_EQ(access.status, tlm::TLM_OK_RESPONSE);
        if (!access.write) ASSERT_EQ(access.data, values[i]) << i;
    }
}

}  // namespace dram_memory_test
}  // namespace dlasim
