// Links wake who has a use for what is new.
#include "links/wire.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"

namespace dlasim {
namespace wire_test {

struct Listener final : Sleeper {
    void wake_at(Cycle at) override { woken.push_back(at); }
    std::vector<Cycle> woken;
};

TEST(Channel, ReadyWakesAProducerThatOffersSomethingAndNoOther)
{
    Listener producer, consumer;
    Channel<int> channel;
    channel.connect(&producer, &consumer);
    channel.set_ready(5, false);
    EXPECT_TRUE(producer.woken.empty());
    EXPECT_TRUE(channel.ready(4));
    EXPECT_FALSE(channel.ready(5));
    channel.offer(7, 42);
    EXPECT_EQ(consumer.woken, (std::vector<Cycle>{7}));
    channel.set_ready(9, true);
    EXPECT_EQ(producer.woken, (std::vector<Cycle>{9}));
    EXPECT_FALSE(channel.fires(8));
    EXPECT_TRUE(channel.fires(9));
    channel.withdraw(10);
    channel.set_ready(10, false);
    EXPECT_EQ(producer.woken, (std::vector<Cycle>{9}));
}

TEST(Wire, HoldsUntilTheFirstOfTwoChangesToCome)
{
    Wire<int> wire(1);
    wire.set(5, 2);
    wire.set(7, 3);
    for (Cycle at = 0; at < 9; ++at) EXPECT_EQ(wire.read(at), at < 5 ? 1 : at < 7 ? 2 : 3) << at;
    wire.set(8, 4);
    for (Cycle at = 5; at < 9; ++at) EXPECT_EQ(wire.read(at), at < 7 ? 2 : at < 8 ? 3 : 4) << at;
    EXPECT_THROW(wire.read(4), InternalError) << "a third change to come";
}

TEST(Wire, IsReplacedByAChangeForTheSameCycle)
{
    Wire<int> wire(1);
    wire.set(5, 2);
    wire.set(5, 3);
    EXPECT_EQ(wire.read(4), 1);
    EXPECT_EQ(wire.read(5), 3);
}

}  // namespace wire_test
}  // namespace dlasim
