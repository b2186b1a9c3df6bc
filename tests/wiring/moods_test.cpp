// A memory of every mood: each burst is answered in another way that the base protocol of TLM-2.0 allows, so that any two of them meet.
// One process a test: SystemC's kernel is a singleton.
#include <gmock/gmock.h>

#include <array>
#include <random>
#include <set>

#include "platform.h"

using namespace sc_core;

namespace dlasim::test {
namespace moods_test {

sc_time ns(double n) { return {n, SC_NS}; }

MeasuredCase measured(const std::string& name) { return read_measured_case(DLASIM_TEST_DATA "/rtl/" + name + ".json", std::nullopt); }

AcceleratorOptions on(const MeasuredCase& run, std::vector<std::string>* told = nullptr)
{
    AcceleratorOptions options{.hardware = "nv_small"};
    options.hardware = run.hardware.name;
    if (told) options.on_error = [told](const MachineError& error) { told->emplace_back(error.what()); };
    return options;
}

TLM_DECLARE_EXTENDED_PHASE(FOREIGN_PHASE);

/// Answers every burst in another way that the base protocol allows, and lets go of it when it likes.
struct MoodyMemory : sc_module {
    tlm_utils::simple_target_socket<MoodyMemory, 512> socket{"socket"};
    Bytes& bytes;
    std::set<Payload*> seen;
    std::vector<Payload*> kept;  // ended, and not released yet
    std::size_t outstanding = 0;
    std::array<unsigned, 10> moods{};

    SC_HAS_PROCESS(MoodyMemory);
    MoodyMemory(sc_module_name name, Bytes& store) : sc_module(name), bytes(store)
    {
        socket.register_nb_transport_fw(this, &MoodyMemory::forward);
        SC_THREAD(accept);
        SC_THREAD(respond);
    }

private:
    struct Hop : tlm::tlm_extension<Hop> {
        tlm_extension_base* clone() const override { return new Hop(*this); }
        void copy_from(const tlm_extension_base&) override {}
    };
    tlm::tlm_sync_enum forward(Payload& burst, tlm::tlm_phase& phase, sc_time& delay)
    {
        if (phase == tlm::END_RESP) {
            EXPECT_EQ(responding_, &burst);
            end(burst);
            freed_.notify(delay);
            return random_() % 2 ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
        }
        EXPECT_EQ(phase, tlm::BEGIN_REQ);
        EXPECT_EQ(requesting_, nullptr) << "BEGIN_REQ before END_REQ";
        EXPECT_EQ(burst.get_extension<Hop>(), nullptr);
        burst.acquire();
        burst.set_auto_extension(new Hop);
        seen.insert(&burst);
        ++outstanding;
        if (random_() % 4 == 0) back(burst, FOREIGN_PHASE);
        if (random_() % 4 == 0) socket->invalidate_direct_mem_ptr(0, ~std::uint64_t{0});
        unsigned mood = static_cast<unsigned>(random_() % moods.size());
        if (responding_ && (mood == 2 || mood == 7 || mood == 8)) mood = 1;
        ++moods[mood];
        const sc_time begin = delay;
        switch (mood) {
            case 6:  // END_REQ from inside, and complete
                back(burst, tlm::END_REQ, begin);
                [[fallthrough]];
            case 0:
                perform(burst);
                delay += some_time();
                end(burst);
                return tlm::TLM_COMPLETED;
            case 1:
                delay += ns(random_() % 3);
                due_.notify(burst, delay + some_time());
                phase = tlm::END_REQ;
                return tlm::TLM_UPDATED;
            case 7:
                back(burst, tlm::END_REQ, begin);
                [[fallthrough]];
            case 2:
                perform(burst);
                responding_ = &burst;
                delay += some_time();
                phase = tlm::BEGIN_RESP;
                return tlm::TLM_UPDATED;
            case 4:  // no END_REQ at all
                requesting_ = &burst;
                due_.notify(burst, delay + some_time());
                return tlm::TLM_ACCEPTED;
            case 5:
                back(burst, tlm::END_REQ, begin);
                due_.notify(burst, delay + some_time());
                return tlm::TLM_ACCEPTED;
            case 8:
                perform(burst);
                responding_ = &burst;
                if (back(burst, tlm::BEGIN_RESP, delay + some_time()) == tlm::TLM_COMPLETED) end(burst);
                return tlm::TLM_ACCEPTED;
            case 9:  // a phase of others first
                requesting_ = &burst;
                requests_.notify(burst, delay + some_time());
                phase = FOREIGN_PHASE;
                return tlm::TLM_UPDATED;
            default:
                requesting_ = &burst;
                requests_.notify(burst, delay + some_time());
                return tlm::TLM_ACCEPTED;
        }
    }
    void accept()
    {
        for (;; wait(requests_.get_event()))
            while (Payload* burst = requests_.get_next_transaction()) {
                requesting_ = nullptr;
                const sc_time later = ns(0.1 * static_cast<double>(random_() % 30));
                due_.notify(*burst, later + some_time());
                back(*burst, tlm::END_REQ, later);
            }
    }
    void respond()
    {
        for (;; wait(due_.get_event()))
            while (Payload* burst = due_.get_next_transaction()) {
                while (responding_) wait(freed_);
                perform(*burst);
                if (requesting_ == burst) requesting_ = nullptr;
                responding_ = burst;
                if (back(*burst, tlm::BEGIN_RESP, random_() % 2 ? SC_ZERO_TIME : some_time()) == tlm::TLM_COMPLETED) end(*burst);
            }
    }
    tlm::tlm_sync_enum back(Payload& burst, tlm::tlm_phase phase, sc_time delay = SC_ZERO_TIME)
    {
        return socket->nb_transport_bw(burst, phase, delay);
    }
    void end(Payload& burst)
    {
        --outstanding;
        if (responding_ == &burst) responding_ = nullptr;
        kept.push_back(&burst);
        while (!kept.empty() && random_() % 3 != 0) {
            kept.back()->release();
            kept.pop_back();
        }
    }
    void perform(Payload& burst)
    {
        for (unsigned i = 0; i < burst.get_data_length(); ++i) {
            const bool enabled = !burst.get_byte_enable_ptr() || burst.get_byte_enable_ptr()[i % burst.get_byte_enable_length()];
            if (burst.is_read()) burst.get_data_ptr()[i] = bytes[burst.get_address() + i];
            else if (enabled) bytes[burst.get_address() + i] = burst.get_data_ptr()[i];
        }
        burst.set_dmi_allowed(true);
        burst.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    sc_time some_time() { return ns(0.7 * static_cast<double>(1 + random_() % 60)); }

    std::mt19937 random_{3};
    Payload *requesting_ = nullptr, *responding_ = nullptr;
    tlm_utils::peq_with_get<Payload> requests_{"requests"}, due_{"due"};
    sc_event freed_;
};

class Moods : public testing::TestWithParam<std::string> {};

TEST_P(Moods, OfAMemoryChangeNoValueAndNoCount)
{
    const MeasuredCase run = measured(GetParam());
    std::vector<std::string> told;
    Board plain("plain", on(run), false), board("board", on(run, &told), true, false);
    MoodyMemory memory("memory", board.bytes);
    board.dla.dbb.bind(memory.socket);
    plain.fill(run.recording);
    bool over = false;
    sc_spawn([&] { plain.play(run.recording.program); });
    sc_spawn([&] {
        std::mt19937_64 random{9};
        for (unsigned i = 0; i < 20; ++i) {
            board.fill(run.recording);
            sc_process_handle software = sc_spawn([&] { board.play(run.recording.program); });
            wait(ns(static_cast<double>(random() % 4000)));
            software.kill();
            board.reset_n.write(false);
            wait(ns(0.3 * static_cast<double>(random() % 500)));
            board.reset_n.write(true);
            wait(ns(1));
        }
        board.reset_n.write(false);
        wait(sc_time(20, SC_US));
        EXPECT_EQ(memory.outstanding, 0u);
        board.fill(run.recording);
        board.reset_n.write(true);
        wait(ns(1));
        board.play(run.recording.program);
        wait(sc_time(100, SC_US));
        over = true;
        sc_stop();
    });
    sc_start(sc_time(20, SC_MS));
    EXPECT_TRUE(over) << board.dla.diagnosis();
    EXPECT_THAT(told, testing::IsEmpty());
    EXPECT_THAT(memory.moods, testing::Each(testing::Gt(0u)));
    EXPECT_EQ(memory.outstanding, 0u);
    for (const auto& [address, byte] : plain.bytes) ASSERT_EQ(board.bytes[address], byte) << address;
    for (Payload* burst : memory.kept) burst->release();
    for (const Payload* burst : memory.seen) EXPECT_EQ(burst->get_ref_count(), 0);
}

INSTANTIATE_TEST_SUITE_P(Foreign, Moods,
                         testing::Values("nv_small/dc_int8_odd", "nv_small/mix_9100_15", "nv_small/pdp_seq2", "nv_full/cvsram_i1_ops"),
                         [](const auto& info) { return info.param.substr(info.param.find('/') + 1); });

}  // namespace moods_test
}  // namespace dlasim::test
