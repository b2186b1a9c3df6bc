// A platform around the public accelerator for tests: memories that keep book of the base protocol and can answer in every way that it
// allows, and software that plays a register program on the bus.
#pragma once
#include <dlasim/accelerator.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <unordered_map>

#include "replay/recording.h"

namespace dlasim::test {

using Payload = tlm::tlm_generic_payload;

/// What happens at the sockets of an accelerator, in the order in which it happens.
struct Journal {
    sc_core::sc_time zero;  // times count from here
    std::vector<std::string> lines;
    void note(const std::string& what, const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME)
    {
        const std::int64_t at =
            static_cast<std::int64_t>((sc_core::sc_time_stamp() + delay).value()) - static_cast<std::int64_t>(zero.value());
        lines.push_back(fmt::format("{:>9} {}", at, what));
    }
};

/// How a memory answers.
enum class Manner {
    Phases,      // END_REQ at once, BEGIN_RESP later
    LateEndReq,  // END_REQ by a call of its own
    NoEndReq,    // BEGIN_RESP without an END_REQ before
    Completed,   // in one call
    RespAtOnce,  // BEGIN_RESP as the answer to BEGIN_REQ
    Annotated,   // END_REQ at once, but for a later time; BEGIN_RESP long ahead of its time
    Shuffled,    // responses in any order
    CompletedShuffled,
    Nested,  // END_REQ from inside the call of BEGIN_REQ
};
inline constexpr std::array kManners{Manner::Phases,    Manner::LateEndReq,        Manner::NoEndReq,
                                     Manner::Completed, Manner::RespAtOnce,        Manner::Annotated,
                                     Manner::Shuffled,  Manner::CompletedShuffled, Manner::Nested};
inline constexpr std::array kMannerNames{"Phases",    "LateEndReq", "NoEndReq",          "Completed", "RespAtOnce",
                                         "Annotated", "Shuffled",   "CompletedShuffled", "Nested"};
inline std::string name_of(Manner manner) { return kMannerNames[static_cast<std::size_t>(manner)]; }
inline void PrintTo(Manner manner, std::ostream* out) { *out << name_of(manner); }

using Bytes = std::unordered_map<std::uint64_t, unsigned char>;

/// A memory on the base protocol that fails the test where the protocol is broken.
class BookMemory : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<BookMemory, 512> socket{"socket"};
    Manner manner = Manner::Phases;
    sc_core::sc_time latency{40, sc_core::SC_NS}, accept{3, sc_core::SC_NS};
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    Journal* journal = nullptr;
    std::function<void(Payload&)> on_begin;
    std::function<void()> on_end;  // behind an END_RESP, in the same call
    std::size_t begun = 0, ended = 0;

    SC_HAS_PROCESS(BookMemory);
    BookMemory(sc_core::sc_module_name name, Bytes& store) : sc_module(name), bytes(store)
    {
        socket.register_nb_transport_fw(this, &BookMemory::forward);
        SC_THREAD(accept_requests);
        SC_THREAD(respond);
    }
    /// Bursts that have begun and not ended.
    std::size_t outstanding() const { return states_.size(); }
    /// A response has begun and not ended.
    bool responding() const { return responding_ != nullptr; }
    Bytes& bytes;

private:
    enum class State { Request, Waiting, Response };

    tlm::tlm_sync_enum forward(Payload& burst, tlm::tlm_phase& phase, sc_core::sc_time& delay)
    {
        if (phase == tlm::BEGIN_REQ) return begin(burst, phase, delay);
        if (phase != tlm::END_RESP) return tlm::TLM_ACCEPTED;
        const auto state = states_.find(&burst);
        if (state == states_.end() || state->second != State::Response) {
            ADD_FAILURE() << "END_RESP of a burst at " << burst.get_address() << " that has no response";
            return tlm::TLM_COMPLETED;
        }
        EXPECT_GE((sc_core::sc_time_stamp() + delay).value(), responds_at_.value()) << "END_RESP before its BEGIN_RESP";
        if (journal) journal->note(fmt::format("END_RESP {:#x}", burst.get_address()), delay);
        end(burst);
        freed_.notify(delay);
        if (on_end) on_end();
        return tlm::TLM_COMPLETED;
    }
    tlm::tlm_sync_enum begin(Payload& burst, tlm::tlm_phase& phase, sc_core::sc_time& delay)
    {
        EXPECT_EQ(requesting_, nullptr) << "BEGIN_REQ before the END_REQ of the request before";
        EXPECT_GE((sc_core::sc_time_stamp() + delay).value(), free_at_.value()) << "BEGIN_REQ before the time of the END_REQ before";
        EXPECT_EQ(states_.count(&burst), 0u) << "BEGIN_REQ of a burst that has not ended";
        EXPECT_GE((sc_core::sc_time_stamp() + delay).value(), begun_at_.value()) << "requests out of the order of their times";
        begun_at_ = sc_core::sc_time_stamp() + delay;
        EXPECT_EQ(burst.get_response_status(), tlm::TLM_INCOMPLETE_RESPONSE);
        EXPECT_FALSE(burst.is_dmi_allowed());
        EXPECT_EQ(burst.get_streaming_width(), burst.get_data_length());
        EXPECT_GE(burst.get_ref_count(), 1);
        ++begun;
        if (on_begin) on_begin(burst);
        if (journal)
            journal->note(fmt::format("{} {:#x} {} {:#x}", burst.is_read() ? "read" : "write", burst.get_address(), burst.get_data_length(),
                                      burst.is_read() ? 0 : sum(burst)),
                          delay);
        states_[&burst] = State::Waiting;
        if (manner == Manner::Completed || manner == Manner::CompletedShuffled || manner == Manner::RespAtOnce) {
            delay += manner == Manner::CompletedShuffled ? some_time() : latency;
            perform(burst);
            if (manner != Manner::RespAtOnce) {
                states_.erase(&burst);
                ++ended;
                return tlm::TLM_COMPLETED;
            }
            if (!responding_) {
                responding_ = &burst;
                burst.acquire();
                states_[&burst] = State::Response;
                responds_at_ = sc_core::sc_time_stamp() + delay;
                phase = tlm::BEGIN_RESP;
                return tlm::TLM_UPDATED;
            }
            delay -= latency;
        }
        burst.acquire();
        switch (manner) {
            case Manner::LateEndReq:
                states_[&burst] = State::Request;
                requesting_ = &burst;
                requests_.notify(burst, delay + accept);
                return tlm::TLM_ACCEPTED;
            case Manner::NoEndReq:
                states_[&burst] = State::Request;
                requesting_ = &burst;
                due_.notify(burst, delay + latency);
                return tlm::TLM_ACCEPTED;
            case Manner::Annotated:
                delay += accept;
                free_at_ = sc_core::sc_time_stamp() + delay;
                due_.notify(burst, delay);
                break;
            case Manner::Shuffled:
                due_.notify(burst, delay + some_time());
                break;
            case Manner::Nested: {
                due_.notify(burst, delay + latency);
                tlm::tlm_phase accepted = tlm::END_REQ;
                sc_core::sc_time accept_delay = delay;
                socket->nb_transport_bw(burst, accepted, accept_delay);
                return tlm::TLM_ACCEPTED;
            }
            default:
                due_.notify(burst, delay + latency);
        }
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
    }
    void accept_requests()
    {
        for (;; wait(requests_.get_event()))
            while (Payload* burst = requests_.get_next_transaction()) {
                states_[burst] = State::Waiting;
                requesting_ = nullptr;
                tlm::tlm_phase phase = tlm::END_REQ;
                sc_core::sc_time delay;
                due_.notify(*burst, latency);
                socket->nb_transport_bw(*burst, phase, delay);
            }
    }
    void respond()
    {
        for (;; wait(due_.get_event()))
            while (Payload* burst = due_.get_next_transaction()) {
                while (responding_) wait(freed_);
                perform(*burst);
                if (requesting_ == burst) requesting_ = nullptr;
                states_[burst] = State::Response;
                responding_ = burst;
                tlm::tlm_phase phase = tlm::BEGIN_RESP;
                sc_core::sc_time delay = manner == Manner::Annotated ? latency : sc_core::SC_ZERO_TIME;
                responds_at_ = sc_core::sc_time_stamp() + delay;
                const tlm::tlm_sync_enum answer = socket->nb_transport_bw(*burst, phase, delay);
                if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
                    if (journal) journal->note(fmt::format("taken {:#x}", burst->get_address()), delay);
                    end(*burst);
                }
            }
    }
    void end(Payload& burst)
    {
        ++ended;
        states_.erase(&burst);
        responding_ = nullptr;
        burst.release();
    }
    void perform(Payload& burst)
    {
        for (unsigned i = 0; i < burst.get_data_length(); ++i) {
            const bool enabled = !burst.get_byte_enable_ptr() || burst.get_byte_enable_ptr()[i % burst.get_byte_enable_length()];
            if (burst.is_read()) burst.get_data_ptr()[i] = bytes[burst.get_address() + i];
            else if (enabled) bytes[burst.get_address() + i] = burst.get_data_ptr()[i];
        }
        burst.set_response_status(status);
    }
    sc_core::sc_time some_time() { return latency * static_cast<double>(1 + random_() % 4); }
    static std::uint64_t sum(const Payload& burst)
    {
        std::uint64_t sum = 0;
        for (unsigned i = 0; i < burst.get_data_length(); ++i)
            sum = sum * 31 + (burst.get_byte_enable_ptr() && !burst.get_byte_enable_ptr()[i] ? 256u : burst.get_data_ptr()[i]);
        return sum;
    }

    std::mt19937 random_{11};
    std::map<Payload*, State> states_;
    Payload *requesting_ = nullptr, *responding_ = nullptr;
    sc_core::sc_time begun_at_, free_at_, responds_at_;
    tlm_utils::peq_with_get<Payload> requests_{"requests"}, due_{"due"};
    sc_core::sc_event freed_;
};

/// An accelerator with its memories and a software that plays programs.
class Board : public sc_core::sc_module {
public:
    Accelerator dla;
    sc_core::sc_signal<bool> reset_n{"reset_n", true}, interrupt{"interrupt"};
    Bytes bytes;  // behind both ports
    BookMemory memory{"memory", bytes}, cvsram{"cvsram", bytes};
    tlm_utils::multi_passthrough_initiator_socket<Board> bus{"bus"};
    Journal journal;

    SC_HAS_PROCESS(Board);
    Board(sc_core::sc_module_name name, const AcceleratorOptions& options, bool with_reset = true, bool with_memory = true)
        : sc_module(name), dla("dla", options), period_(options.clock_period)
    {
        if (with_memory) dla.dbb.bind(memory.socket);
        else idle_.emplace_back(std::make_unique<Idle>("no_dbb"))->socket.bind(memory.socket);
        if (dla.cvsram) dla.cvsram->bind(cvsram.socket);
        else idle_.emplace_back(std::make_unique<Idle>("no_cvsram"))->socket.bind(cvsram.socket);
        bus.bind(dla.csb);
        bus.register_nb_transport_bw(this, &Board::backward);
        dla.interrupt(interrupt);
        if (with_reset) dla.reset_n(reset_n);
        memory.journal = cvsram.journal = &journal;
        SC_METHOD(watch);
        sensitive << interrupt;
        dont_initialize();
    }
    /// One word at `delay` from now; `delay` is what came back.
    tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, std::uint32_t& value, sc_core::sc_time& delay)
    {
        Payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        bus->b_transport(payload, delay);
        return payload.get_response_status();
    }
    tlm::tlm_response_status write(std::uint64_t address, std::uint32_t value)
    {
        sc_core::sc_time delay;
        const auto status = access(tlm::TLM_WRITE_COMMAND, address, value, delay);
        wait(delay + period_);
        return status;
    }
    tlm::tlm_response_status read(std::uint64_t address, std::uint32_t& value)
    {
        sc_core::sc_time delay;
        const auto status = access(tlm::TLM_READ_COMMAND, address, value, delay);
        wait(delay + period_);
        return status;
    }
    /// The memories as a recording wants them.
    void fill(const Recording& recording)
    {
        bytes.clear();
        for (const MemoryImage& image : recording.images)
            for (std::size_t i = 0; i < image.bytes.size(); ++i) bytes[image.place.address.byte() + i] = image.bytes[i];
    }
    std::size_t outstanding() const { return memory.outstanding() + cvsram.outstanding(); }
    /// Plays a program: writes, reads and interrupts.
    void play(const Program& program)
    {
        const std::uint32_t status = dla.address("GLB.S_INTR_STATUS");
        for (const ProgramEntry& entry : program) {
            if (const auto* w = std::get_if<RegisterWrite>(&entry)) {
                EXPECT_EQ(write(w->address, w->value), tlm::TLM_OK_RESPONSE) << w->name;
            } else if (const auto* r = std::get_if<RegisterRead>(&entry)) {
                note_register(r->name, r->address);
            } else if (std::holds_alternative<WaitInterrupt>(entry)) {
                while (!interrupt.read()) wait(interrupt.posedge_event());
                EXPECT_EQ(write(status, 0xffffffff), tlm::TLM_OK_RESPONSE);
                while (interrupt.read()) wait(interrupt.negedge_event());
            } else if (const auto* p = std::get_if<PollRegister>(&entry)) {
                for (std::uint32_t value = ~p->expected; (value & p->mask) != p->expected;)
                    if (read(p->address, value) != tlm::TLM_OK_RESPONSE) return;
            } else if (const auto* s = std::get_if<WaitStatus>(&entry)) {
                for (std::uint32_t seen = 0; (seen & s->bits) != s->bits;) {
                    while (!interrupt.read()) wait(interrupt.posedge_event());
                    std::uint32_t value = 0;
                    read(status, value);
                    write(status, value);
                    seen |= value;
                    for (int i = 0; i < 16 && interrupt.read(); ++i) wait(period_);
                }
            }
        }
    }
    void note_register(const std::string& name, std::uint32_t address)
    {
        std::uint32_t value = 0;
        EXPECT_EQ(read(address, value), tlm::TLM_OK_RESPONSE) << name;
        journal.note(fmt::format("{} = {:#x}", name, value));
    }
    const sc_core::sc_time& period() const { return period_; }
    std::function<tlm::tlm_sync_enum(Payload&, tlm::tlm_phase&, sc_core::sc_time&)> on_backward;

private:
    void watch() { journal.note(interrupt.read() ? "interrupt" : "no interrupt"); }
    tlm::tlm_sync_enum backward(int, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay)
    {
        return on_backward ? on_backward(payload, phase, delay) : tlm::TLM_ACCEPTED;
    }

    /// In front of a memory that is not used.
    struct Idle : sc_core::sc_module, tlm::tlm_bw_transport_if<> {
        tlm::tlm_initiator_socket<512> socket{"socket"};
        explicit Idle(sc_core::sc_module_name name) : sc_module(name) { socket.bind(*this); }
        tlm::tlm_sync_enum nb_transport_bw(Payload&, tlm::tlm_phase&, sc_core::sc_time&) override { return tlm::TLM_ACCEPTED; }
        void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    };
    std::vector<std::unique_ptr<Idle>> idle_;
    sc_core::sc_time period_;
};

}  // namespace dlasim::test
