dlasim_test(rubik_test.cpp quick USES dlasim::rubik)
